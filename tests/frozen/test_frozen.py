"""What the library says today, compared with what it said when the references were written.

Numbers may differ by 1e-10. With UNSELECTED_FROZEN=exact they must be the same to the last bit,
which holds on the machine, and with the versions of the libraries, that wrote them.
UNSELECTED_FROZEN=write writes the references anew, for changes that are meant.
"""

import copy
import json
import os
import shutil
from pathlib import Path

import pytest
from frozen import comparing
from frozen.commands import STORIES, answer, record_story, without_passing, write_table
from frozen.comparing import differences
from frozen.configurations import CONFIGURATIONS, make_data
from frozen.recording import as_text, plain, record

HERE = Path(__file__).parent
REFERENCES = HERE / "references"
VERSION_1 = HERE / "model_files_version_1"
MODE = os.environ.get("UNSELECTED_FROZEN", "")
NAMES = [one.name for one in (*CONFIGURATIONS, *STORIES)]
MODELS = sorted(path.stem for path in VERSION_1.glob("*.json"))
SHOWN = 20
# Predictions of a real response from two groups, by another path since, are right to 1e-6.
TOLERANCES = {"regression_sparse": 1e-6}


def check(path, actual, *, bits_vary=False):
    """Compare a record with its reference, or write that."""
    if MODE == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(as_text(actual))
        return
    exact = MODE == "exact" and not bits_vary
    check_equal(json.loads(path.read_text()), actual, path.stem, exact=exact)


def check_equal(expected, actual, name, *, exact=False):
    found = differences(expected, json.loads(as_text(actual)), exact=exact, path=name)
    shown = "\n  ".join(found[:SHOWN])
    more = f"\n  and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    assert not found, f"{len(found)} differences from what was frozen:\n  {shown}{more}"


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=lambda one: one.name)
def test_estimators_say_what_they_said(configuration, tmp_path):
    for module in configuration.needs:
        pytest.importorskip(module)
    actual = record(configuration, make_data(configuration, tmp_path))
    check(REFERENCES / f"{configuration.name}.json", actual)


@pytest.mark.parametrize("story", STORIES, ids=lambda one: one.name)
def test_commands_say_what_they_said(story, tmp_path):
    actual = record_story(story, tmp_path)
    check(REFERENCES / f"{story.name}.json", actual, bits_vary=story.bits_vary)


def test_each_reference_belongs_to_one_configuration():
    assert len(NAMES) == len(set(NAMES))
    if MODE != "write":
        assert sorted(path.stem for path in REFERENCES.iterdir()) == sorted(NAMES)


@pytest.mark.parametrize("name", MODELS)
def test_model_files_of_version_1_stay_readable(name, tmp_path, monkeypatch):
    """Users have such files: these are never written anew, whatever is written today."""
    monkeypatch.setattr(comparing, "TOLERANCE", TOLERANCES.get(name, comparing.TOLERANCE))
    shutil.copy(VERSION_1 / f"{name}.json", tmp_path / "model.json")
    expected = json.loads((VERSION_1 / "predictions" / f"{name}.json").read_text())
    write_table(tmp_path / "new.csv", expected["header"], decoded(expected["rows"]))
    answers = {command: answer(command.split(), tmp_path) for command in expected["answers"]}
    assert {one["code"] for one in answers.values()} == {0}
    check_equal(expected["answers"], plain(without_passing(answers)), name, exact=MODE == "exact")


def decoded(rows):
    return [[float("nan") if value is None else value for value in row] for row in rows]


def test_there_is_a_model_file_of_each_kind():
    files = [json.loads((VERSION_1 / f"{name}.json").read_text()) for name in MODELS]
    assert {file["version"] for file in files} == {1}
    assert {file["kind"] for file in files} == {"bernoulli", "gaussian", "regression"}
    assert sum("tempering" in file for file in files) >= 2
    assert sum("weighing" in file for file in files) >= 2


REFERENCE = "gaussian-common"


def changes():
    """Return changes of a record that must be noticed, by name."""

    def number(content):
        content["predictions"]["proba"][3][1] += 1e-9

    def lacking(content):
        del content["attributes"]["threshold_"]

    def more(content):
        content["answers"]["interval"]["another"] = None

    def string(content):
        content["attributes"]["selection_"]["statistic"] += "!"

    def shorter(content):
        content["attributes"]["scores_"].pop()

    def integer(content):
        content["attributes"]["n_features_in_"] = float(content["attributes"]["n_features_in_"])

    def not_a_number(content):
        content["predictions"]["proba"][0][0] = {"float": "nan"}

    return [number, lacking, more, string, shorter, integer, not_a_number]


@pytest.mark.parametrize("change", changes(), ids=lambda change: change.__name__)
def test_the_comparison_would_notice(change):
    expected = json.loads((REFERENCES / f"{REFERENCE}.json").read_text())
    actual = copy.deepcopy(expected)
    check_equal(expected, actual, REFERENCE)
    change(actual)
    with pytest.raises(AssertionError, match=rf"1 differences.*\n +{REFERENCE}\['"):
        check_equal(expected, actual, REFERENCE)


def test_the_comparison_tells_where_and_what():
    assert differences({"a": [1.0, {"b": 2.0}]}, {"a": [1.0, {"b": 2.5}]}) == [
        "record['a'][1]['b']: expected 2.0, got 2.5 (0.5 apart)"
    ]
    assert differences({"a": 1}, {}) == ["record: lacks 'a'"]
    assert differences({}, {"a": 1}) == ["record: has 'a', which was not expected"]


def test_only_the_exact_comparison_notices_the_last_bit():
    assert differences([1.0], [1.0 + 2**-52]) == []
    assert differences([1.0], [1.0 + 2**-52], exact=True) != []
