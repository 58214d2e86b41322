"""The commands: their options, defaults and help. What they do is loaded when they are called.

Nothing here may import numpy or scikit-learn, so that help starts fast.
"""

from dataclasses import field
from typing import Annotated

from unselected.cli.loading import done_in
from unselected.cli.options import (
    SEVERAL,
    AuditModelOption,
    Choice,
    DependenceOption,
    ExportFormat,
    FamilyOption,
    Flag,
    Input,
    KOptions,
    ModelOption,
    Names,
    Output,
    PriorOption,
    RatesOption,
    ScoreOption,
    Source,
    Speech,
    options,
)
from unselected.cli.whole_numbers import Count, Folds, Jobs, Seed


@options
class FitOptions:
    """Options of `fit`.

    Parameters
    ----------
    no_names
        Do not read the feature names of an .h5ad or .bed file; ten million names take about 1 GB of
        memory. Features are then numbered from 0. It has no effect on .npy and .zarr files, which
        have no names.
    output
        Model file to write, JSON; - is stdout.
    force
        Overwrite the model file.
    """

    choice: Choice = field(default_factory=Choice)
    no_names: Flag = False
    output: Output = "model.json"
    force: Flag = False
    speech: Speech = field(default_factory=Speech)


@done_in("unselected.cli.fitting")
def fit(train: Input, /, *, source: Source, options: FitOptions = FitOptions()) -> None:  # noqa: B008 - frozen
    """Select features, fit the model, and write it to a file.

    Parameters
    ----------
    train
        Table with training cases: CSV, TSV (also .gz), Parquet or sparse .npz; - is stdin. The
        columns of .npy, .h5ad, .bed (PLINK) and .zarr files are read in blocks.
    """


@options
class PredictOptions:
    """Options of `predict`.

    Parameters
    ----------
    output
        CSV file to write; - is stdout.
    id
        Name of the column that identifies the cases; by default they are numbered from 1.
    features_in_rows
        The table has a row for each feature and a column for each case.
    no_names
        The model was fitted with --no-names: find its features in an .h5ad or .bed file by number.
        It has no effect on .npy and .zarr files, which have no names.
    covariates
        Table with the covariates of the model, for the same cases in the same order; by default
        they are columns of the new table, or of obs in an .h5ad file.
    quantiles
        Quantiles of a numeric response to write; by default 0.05 0.5 0.95. Give this
        option after the names of the files.
    prevalence
        Class probabilities in the population of the new cases, in place of those of the training
        set, for example after a case-control study: CLASS=PROBABILITY for each class, or, for two
        classes, the probability of the second. Give this option after the names of the files.
    interval
        Add posterior intervals of the probabilities, at this level, for example 0.9. They tell how
        sure the model is of what the features say, and take the prevalence as certain.
    indeterminate_below
        Leave the prediction empty where no class is at least this probable.
    force
        Overwrite the output file.
    """

    output: Output = "-"
    id: str | None = None
    features_in_rows: Flag = False
    no_names: Flag = False
    covariates: Input | None = None
    quantiles: Annotated[tuple[float, ...] | None, SEVERAL] = None
    prevalence: Annotated[tuple[str, ...] | None, SEVERAL] = None
    interval: float | None = None
    indeterminate_below: float | None = None
    force: Flag = False
    speech: Speech = field(default_factory=Speech)


@done_in("unselected.cli.predicting")
def predict(model: Input, new: Input, /, *, options: PredictOptions = PredictOptions()) -> None:  # noqa: B008 - frozen
    """Predict new cases with a fitted model: probabilities of classes, or mean, std and quantiles.

    Parameters
    ----------
    model
        Model file written by `unselected fit`.
    new
        Table with the kept features and the covariates in any order; other columns are ignored; -
        is stdin. All file formats of `unselected fit` are accepted.
    """


@options
class InspectOptions:
    """Options of `inspect`.

    Parameters
    ----------
    effects
        Also show the effects of the kept features, at face value and corrected for the selection.
        This takes a while for many binary features.
    all
        Show all kept features, not only the 20 with the highest scores.
    level
        Posterior probability of the intervals of effects.
    output
        CSV file to write the effects to, with all details of each feature; - is stdout, and then
        nothing else is printed there.
    force
        Overwrite the output file.
    """

    effects: Flag = False
    all: Flag = False
    level: float = 0.9
    output: Output | None = None
    force: Flag = False
    speech: Speech = field(default_factory=Speech)


@done_in("unselected.cli.inspecting")
def inspect(model: Input, /, *, options: InspectOptions = InspectOptions()) -> None:  # noqa: B008 - frozen
    """Show the content of a model file: kept features, selection and provenance.

    Parameters
    ----------
    model
        Model file written by `unselected fit`.
    """


@options
class ExportOptions:
    """Options of `export`.

    Parameters
    ----------
    to
        html (a page that predicts from entered values, without a server) or csv (a score card:
        points of binary features, for bernoulli models without a guard against dependence).
    output
        File to write; - is stdout. By default calculator.html or score_card.csv.
    title
        Title of the page.
    labels
        CSV file with the columns feature, label and unit: how the page shows features.
    force
        Overwrite the output file.
    """

    to: ExportFormat = "html"
    output: Output | None = None
    title: str = "Calculator"
    labels: Input | None = None
    force: Flag = False
    speech: Speech = field(default_factory=Speech)


@done_in("unselected.cli.exporting")
def export(model: str, /, *, options: ExportOptions = ExportOptions()) -> None:  # noqa: B008 - frozen
    """Write a calculator of a model: one page that predicts from entered values, without a server.

    Parameters
    ----------
    model
        Model file written by `unselected fit`.
    """


@options
class CvOptions:
    """Options of `cv`.

    Parameters
    ----------
    model
        classifier (classes) or regressor (numeric response), averages over models of any features;
        or one of the paper's models: bernoulli (features 0 or 1, classes), gaussian (real-valued
        features, classes), regression (real-valued features, numeric response). auto takes
        classifier or regressor, unless an option asks for what only the paper's models have.
    prior
        Prior of this library's model: common (every feature is related to the response, more or
        less strongly) or sparse (only an unknown fraction of the features is). auto averages over
        both in classifier and regressor, and is common in the other models.
    dependence
        Guard of this library's model against features that depend on each other given the
        response: none, tempered (learns the power of the likelihood and the outlier fraction from
        ten folds) or correlated (also averages over likelihoods with correlations). auto is the
        best guard of classifier and regressor, and none in the other models. regressor has no
        tempered, and regression has none of these.
    family
        What the values of features are, bernoulli only: binary (0 or 1, or cut at the median) or
        genotype (0, 1 or 2 copies of an allele).
    rates
        What this library's model assumes of how often features are 1, bernoulli only: uniform (all
        rates are equally probable) or given (the number of ones of every feature is taken as given:
        for rare words and other features that are mostly 0).
    score
        What this library's model selects features by: correlation (F with more than two classes).
        For bernoulli chi2, mutual_info, rate_difference, or with two classes fisher (-log10 of the
        p-value of Fisher's exact test) or odds_ratio. For gaussian and two classes welch,
        moderated_t, wilcoxon, auc, mean_difference or volcano.
    groups
        Name of the column that says which cases belong together, such as samples of one patient:
        they stay together in all folds. It is not a feature. For classifier and regressor.
    splits
        Number of folds; by default 5.
    repeats
        Number of repetitions; by default 10, and 1 with classifier and regressor, whose fits
        take seconds.
    loo
        Use leave-one-out instead of folds and repetitions.
    method
        Name of a method to run; may be repeated. By default this library's model (corrected) is
        compared with naive Bayes, also calibrated, logistic regression, lasso, elastic net, nearest
        shrunken centroids and a random forest, or the like for numbers; with several values of --k
        only corrected is run.
    seed
        Seed of the folds.
    jobs
        Number of processes; by default 1, or all processors where a large table makes that pay.
    checkpoint
        File for finished repetitions; the same command continues from there.
    """

    model: ModelOption = "auto"
    prior: PriorOption = "auto"
    dependence: DependenceOption = "auto"
    family: FamilyOption = "binary"
    rates: RatesOption = "uniform"
    score: ScoreOption = "correlation"
    groups: str | None = None
    splits: Folds | None = None
    repeats: Count | None = None
    loo: Flag = False
    method: Names = ()
    seed: Seed = 0
    jobs: Jobs | None = None
    checkpoint: Input | None = None
    speech: Speech = field(default_factory=Speech)


@done_in("unselected.cli.comparing")
def cv(
    data: Input,
    /,
    *,
    source: Source,
    k: KOptions = ("auto",),
    options: CvOptions = CvOptions(),  # noqa: B008 - frozen
) -> None:
    """Compare this library's model with common alternatives, by repeated cross-validation.

    Parameters
    ----------
    data
        Table with features and the response; - is stdin.
    k
        Number of features that each method selects. With auto or loo this library's model chooses
        it in every fold, by folds or by leave-one-out; the others use what it chooses with all
        cases. Several, as in --k 5 20 100 auto, are compared on the same folds, by default only it.
    """


@options
class ReportOptions:
    """Options of `report`.

    Parameters
    ----------
    splits
        Number of folds of the cross-validation.
    repeats
        Number of repetitions of the cross-validation; by default 2, and 1 with classifier and
        regressor, whose fits take seconds.
    method
        Name of a method to compare with; may be repeated. By default those of `unselected cv`;
        --method corrected compares with none, which takes less time.
    jobs
        Number of processes of the cross-validation; by default as in `unselected cv`.
    output
        HTML file to write; - is stdout.
    force
        Overwrite the output file.
    """

    choice: Choice = field(default_factory=Choice)
    splits: Folds = 5
    repeats: Count | None = None
    method: Names = ()
    jobs: Jobs | None = None
    output: Output = "report.html"
    force: Flag = False
    speech: Speech = field(default_factory=Speech)


@done_in("unselected.cli.reporting")
def report(data: Input, /, *, source: Source, options: ReportOptions = ReportOptions()) -> None:  # noqa: B008 - frozen
    """Write one page on a data set: how far its predictions can be trusted, and why.

    Parameters
    ----------
    data
        Table with features and the response; - is stdin.
    """


@options
class AuditOptions:
    """Options of `audit`.

    Parameters
    ----------
    before
        The table from which the features were selected, with the same cases in the same order and
        the same response. Features are found by name, and the selection is repeated in the folds.
    model
        What is fitted: logistic (logistic regression), bayes (naive Bayes) or forest for classes,
        ridge (Bayesian ridge regression) or forest for numbers, or classifier and regressor of this
        library, whose fits take seconds. auto is logistic or ridge.
    k
        Number of features that the model selects in every fold; by default it uses all.
    groups
        Name of the column that says which cases belong together, such as samples of one patient:
        they stay together in all folds. It is not a feature.
    splits
        Number of folds.
    permutations
        Number of permuted responses.
    alpha
        Probability of each alarm where there is no reason for it.
    picture
        SVG file to draw the audit to.
    force
        Overwrite the picture.
    seed
        Seed of folds, permutations and draws of features.
    jobs
        Number of processes.
    """

    before: Input | None = None
    model: AuditModelOption = "auto"
    k: Count | None = None
    groups: str | None = None
    splits: Folds = 5
    permutations: Count = 19
    alpha: float = 0.05
    picture: str | None = None
    force: Flag = False
    seed: Seed = 0
    jobs: Jobs = 1
    speech: Speech = field(default_factory=Speech)


@done_in("unselected.cli.auditing")
def audit(data: Input, /, *, source: Source, options: AuditOptions = AuditOptions()) -> None:  # noqa: B008 - frozen
    """Say whether features were selected before you got them, and whether too much is promised.

    Parameters
    ----------
    data
        Table with features and the response; - is stdin.
    """
