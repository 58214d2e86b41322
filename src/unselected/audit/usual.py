"""The usual pipelines by name, for those who have a table and no code."""

from typing import Any, Literal

from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import SelectKBest, f_classif, f_regression
from sklearn.impute import SimpleImputer
from sklearn.linear_model import BayesianRidge, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

UsualName = Literal["logistic", "bayes", "ridge", "forest"]


def usual_pipeline(
    name: UsualName, *, of_numbers: bool, k: int | None = None, seed: int = 0
) -> Pipeline:
    """Return a pipeline: missing values filled in, columns standardized, k of them kept, a model.

    Parameters
    ----------
    name : {"logistic", "bayes", "ridge", "forest"}
        `LogisticRegression` or `GaussianNB` for classes, `BayesianRidge` for numbers, a random
        forest for either.
    of_numbers : bool
        Whether the response has numbers, not classes.
    k : int, default=None
        Columns that `SelectKBest` keeps; by default all are used.
    seed : int, default=0

    Returns
    -------
    pipeline : Pipeline

    Examples
    --------
    >>> [name for name, _ in usual_pipeline("logistic", of_numbers=False, k=20).steps]
    ['simpleimputer', 'standardscaler', 'selectkbest', 'logisticregression']
    """
    models: dict[tuple[str, bool], Any] = {
        ("logistic", False): LogisticRegression(max_iter=1000),
        ("bayes", False): GaussianNB(),
        ("ridge", True): BayesianRidge(),
        ("forest", False): RandomForestClassifier(random_state=seed),
        ("forest", True): RandomForestRegressor(random_state=seed),
    }
    if (name, of_numbers) not in models:
        kind = "numbers" if of_numbers else "classes"
        fitting = [known for known, numbers in models if numbers == of_numbers]
        raise ValueError(f"{name} is not a model of {kind}: use {' or '.join(fitting)}.")
    score = f_regression if of_numbers else f_classif
    selector = [] if k is None else [SelectKBest(score, k=k)]
    first = [SimpleImputer(strategy="median"), StandardScaler()]
    return make_pipeline(*first, *selector, models[name, of_numbers])
