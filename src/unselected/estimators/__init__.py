"""The scikit-learn classes: validate, select, condition, remember.

Public modules
--------------
added_value    what features add to covariates: records
bernoulli      `SelectiveBernoulliNB`
choose         the model that fits a data set
class_fitting  the folds that the power of the likelihood is learned from
classifier     `SelectiveClassifier`, the front door for classes
covariates     covariates passed beside X, or taken out of it
divisions      folds that do not depend on the order of the cases
exact          the base of the estimators with an exact posterior
factor         `SelectiveFactorClassifier`, `SelectiveFactorRegressor`
finding_columns  columns by name or number
front_door     the base of the front doors
gaussian       `SelectiveGaussianNB`
inputs         validation of tables and responses
mixture        `SelectiveMixtureClassifier`
out_of_fold    predictions of cases left out, judged case by case
parameters     checks of parameters
predicting     the methods of predictions that estimators share
regression     `SelectiveNaiveRegressor`
regressor      `SelectiveRegressor`, the front door for a real response
selecting      the base of all estimators
stack_steps    who is told how far the fit of an average is
"""
