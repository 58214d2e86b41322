import numpy as np
import pytest
from calculator_cases import saved_model

from unselected.calculator.score_card import score_card

pytestmark = pytest.mark.filterwarnings("ignore")


def test_points_add_up_to_the_explanation(tmp_path):
    saved = saved_model("bits", tmp_path)[0]
    card = score_card(saved)
    assert card.header == ["feature", "one_above", "points_for_mid_if_0", "points_for_mid_if_1"]
    start, *features = card.rows
    bits = np.array([[1.0, 0.0, 1.0, 1.0, 0.0, 0.0]])
    total = start[2] + sum(row[2 + int(bit)] for row, bit in zip(features, bits[0], strict=True))
    told = saved.predictor.explain(bits)
    np.testing.assert_allclose(total, told.total[0], rtol=0, atol=5e-5 * (1 + len(features)))
    assert 0.0 < card.difference < 0.05
    points = [value for row in card.rows for value in row[2:] if value is not None]
    assert all(len(str(abs(value))) <= len("0.1234") for value in points)  # to be added by hand


def test_several_classes_have_points_each(tmp_path):
    saved = saved_model("bits, three classes", tmp_path)[0]
    card = score_card(saved)
    assert card.header[2:4] == ["points_for_high_if_0", "points_for_low_if_0"]
    start, *features = card.rows
    total = np.array(start[2:5]) + sum(np.array(row[5:8]) for row in features)
    told = saved.predictor.explain(np.ones((1, len(features))))
    np.testing.assert_allclose(total, told.total[0], rtol=0, atol=5e-5 * (1 + len(features)))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("real numbers", "kind 'gaussian' has no score card"),
        ("bits, tempered", "guard against dependence"),
    ],
)
def test_models_whose_points_do_not_add_up_are_refused(name, reason, tmp_path):
    with pytest.raises(ValueError, match=reason):
        score_card(saved_model(name, tmp_path)[0])
