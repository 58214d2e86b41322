"""Messages of the library, as the shell tells them."""

import pytest

from unselected.cli.wording import in_shell_words


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("k=3 and threshold=0.2 are both given.", "--k 3 and --threshold 0.2 are both given."),
        ("use variance_shrinkage=0 with it", "use --variance-shrinkage 0 with it"),
        ("variance_shrinkage=-1.5 must be", "--variance-shrinkage -1.5 must be"),
        ("threshold=1e-05: lower", "--threshold 1e-05: lower"),
        ("with n_splits=40 there", "with --splits 40 there"),
        ("use k=None.", "use no --k."),
        ("k='loo' chooses", "--k loo chooses"),
        ("compare with correct_selection=False.", "compare with --uncorrected."),
        ("use names=False.", "use --no-names."),
        ("leave out features_in_rows=True", "leave out --features-in-rows"),
        ("use SelectiveGaussianNB.", "use --model gaussian."),
        # What only looks like a parameter stays.
        ("column 'k' = 3", "column 'k' = 3"),
        ("quantiles=[] must be numbers", "quantiles=[] must be numbers"),
        ("link=3, my_k=4", "link=3, my_k=4"),
    ],
)
def test_parameters_become_options(message, told):
    assert in_shell_words(message) == told
