"""The figures of the paper: all of them, with our numbers and with the paper's."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

from unselected.cli import main
from unselected.experiments import ColonRecord, simulation, simulation_data
from unselected.experiments.published import GAMMA, TABLE, _scores_of, published_scores
from unselected.experiments.simulation import scores
from unselected.plots.paper import (
    COLON_FIGURES,
    SIMULATION_FIGURES,
    colon_figures,
    simulation_figures,
)

SMALL = {"n_features": 1100, "n_train": 30, "n_test": 60, "seed": 3}


@pytest.fixture(scope="module")
def records():
    return simulation(2, **SMALL)


@pytest.fixture(scope="module")
def drawn(records):
    """The figures of the simulation, with their captions."""
    figures = simulation_figures(records, simulation_data(0, **SMALL))
    yield figures
    plt.close("all")


def caption(figure):
    return figure.subfigs[1].texts[0].get_text()


def test_every_figure_says_what_is_the_papers_and_what_is_ours(drawn):
    assert tuple(drawn) == SIMULATION_FIGURES
    for figure in drawn.values():
        assert "Paper:" in caption(figure)
        assert "Here:" in caption(figure)
    assert "0.36, 0.27, 0.21, 0.13" in caption(drawn["figure2"])
    assert "Here: 2 data sets" in caption(drawn["figure3"])


@pytest.mark.slow
def test_captions_are_not_cut(drawn):
    for figure in drawn.values():
        figure.draw_without_rendering()
        box = figure.subfigs[1].texts[0].get_window_extent()
        assert box.y0 >= 0
        assert box.x1 <= figure.bbox.width


def test_the_papers_points_are_drawn_beside_ours(drawn):
    uncorrected = drawn["figure3"].subfigs[0].axes[1]
    lines = {line.get_label(): line.get_xydata() for line in uncorrected.lines}
    table = {score.k: score for score in published_scores() if score.method == "uncorrected"}
    k, actual = lines["paper, actual"][1]
    assert (k, actual) == (10, table[10].actual_error)
    assert lines["paper, expected"][1][1] == table[10].expected_error
    assert "expected error" in lines  # ours


def test_errors_follow_from_a_table_of_categories(records):
    """The formula that is applied to the published table, applied to ours, gives what we know."""
    for record in records[:6]:
        cells = {
            place: (row["count"], row["mean_prediction"], row["actual_fraction"])
            for place, row in enumerate(record.table)
            if row["count"]
        }
        found = _scores_of(record.k, record.method, cells)
        assert found.actual_error == pytest.approx(record.actual_error)
        assert found.expected_error == pytest.approx(record.expected_error)
        assert abs(found.squared_error - record.squared_error) < 0.01


def test_the_published_scores_say_what_the_paper_says():
    by = {(score.method, score.k): score for score in published_scores()}
    assert by.keys() == {(method, k) for k, method in TABLE}
    for k in GAMMA:
        corrected, uncorrected = by["corrected", k], by["uncorrected", k]
        assert abs(corrected.actual_error - uncorrected.actual_error) < 0.02
        assert abs(corrected.actual_error - corrected.expected_error) < 0.03
        assert uncorrected.actual_error - uncorrected.expected_error > 0.05
        assert corrected.squared_error < uncorrected.squared_error


@pytest.fixture
def tissues():
    """Records as of the colon data, ten groups."""
    rng, found = np.random.default_rng(0), []
    y = np.arange(62) < 40
    for group in range(10):
        logits = rng.normal(size=62) + 2.0 * y - 1.0
        for method, stretch in (("corrected", 1.0), ("uncorrected", 2.0)):
            p = 1 / (1 + np.exp(-stretch * logits))
            found.append(
                ColonRecord(
                    *(0, group, method),
                    **scores(y, p),
                    y=y.astype(int).tolist(),
                    probability=p.tolist(),
                    thresholds=[0.5] * 62,
                )
            )
    return found


def test_figures_of_the_colon_data(tissues):
    figures = colon_figures(tissues)
    assert tuple(figures) == COLON_FIGURES
    assert len(figures["figure6"].subfigs[0].axes) == 10
    assert "error 0.194 uncorrected, 0.182 corrected" in caption(figures["figure6"])
    assert "10 of 10 groups, p = 7e-05" in caption(figures["figures7and8"])
    plt.close("all")


def test_a_folder_of_figures_is_looked_at_before_any_work(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("unselected.cli.paper.simulation", lambda *_, **__: pytest.fail("work"))
    (tmp_path / "table1.png").write_text("mine")
    for folder, code, message in (
        (tmp_path, 2, "table1.png exists already"),
        (tmp_path / "table1.png", 1, "table1.png is a file: give the name of a folder."),
    ):
        assert main(["reproduce", "simulation", "--figures", str(folder)]) == code
        assert message in capsys.readouterr().err


@pytest.mark.slow
def test_the_command_writes_pictures(tmp_path, records, monkeypatch, capsys):
    data = simulation_data(0, **SMALL)
    monkeypatch.setattr("unselected.cli.paper.simulation", lambda *_, **__: records)
    monkeypatch.setattr("unselected.cli.figures.simulation_data", lambda *_, **__: data)
    save = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda *given, **how: save(*given, **how | {"dpi": 20}))
    folder = tmp_path / "new" / "figures"
    assert main(["reproduce", "simulation", "--figures", str(folder)]) == 0
    assert f"written to {folder / 'figure1.png'}" in capsys.readouterr().err
    assert {path.name for path in folder.iterdir()} == {f"{n}.png" for n in SIMULATION_FIGURES}
    assert (folder / "figure5.png").read_bytes()[1:4] == b"PNG"
    assert plt.get_fignums() == []
