"""The paper's simulation in a few seconds: what selection does to probabilities, and the cure.

Ten thousand binary features, each weakly related to the class, 200 training cases. The k features
most correlated with the class are kept, and 2000 new cases are predicted. "expected" is the error
rate that the probabilities promise; "actual" is the one that comes.
"""

import sys

from sklearn.metrics import brier_score_loss, log_loss

from unselected import SelectiveBernoulliNB
from unselected.datasets import make_paper_simulation

SEED = 2007


def main(seed: int) -> None:
    """Print one row per number of kept features, without and with the correction."""
    data = make_paper_simulation(random_state=seed)
    print(f"10000 features, 200 training cases, 2000 test cases, seed {seed}\n")
    print("                       error rate                            ")
    print("kept  method        actual  expected   log loss  squared error")
    for k in (1, 10, 100, 1000):
        for correct_selection in (False, True):
            model = SelectiveBernoulliNB(k=k, correct_selection=correct_selection)
            model.fit(data.X_train, data.y_train)
            probability = model.predict_proba(data.X_test)[:, 1]
            print(
                f"{'' if correct_selection else k:>4}"
                f"  {'corrected' if correct_selection else 'uncorrected':<12}"
                f"  {1 - model.score(data.X_test, data.y_test):6.3f}"
                f"  {model.expected_error(data.X_test):8.3f}"
                f"  {log_loss(data.y_test, probability):9.3f}"
                f"  {brier_score_loss(data.y_test, probability):13.3f}"
            )
    print("\nCorrected, the expected error is close to the actual one; uncorrected, far too low.")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SEED)
