import pytest

from unselected.files.labels import Label, read_labels


def written(tmp_path, text):
    path = tmp_path / "labels.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_labels_and_units_are_read(tmp_path):
    path = written(tmp_path, '\ufefffeature,label,unit\nage,"Age, at entry",years\nx1,,\n')
    assert read_labels(path) == {"age": Label("Age, at entry", "years"), "x1": Label("x1", "")}


def test_units_may_be_left_out(tmp_path):
    assert read_labels(written(tmp_path, "feature,label\nage,Age\n")) == {"age": Label("Age")}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,label\nage,Age\n", "has the columns name, label"),
        ("feature,label\nage,Age\nage,Years\n", "the feature 'age' twice in line 3"),
        ("feature,label\n,Age\n", "names no feature in line 2"),
    ],
)
def test_other_tables_are_refused(tmp_path, text, said):
    with pytest.raises(ValueError, match=said):
        read_labels(written(tmp_path, text))
