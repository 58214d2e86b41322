"""The scikit-learn classes: validate, select, condition, remember.

Public modules
--------------
bernoulli   `SelectiveBernoulliNB`
choose      which model goes with a data set
factor      `SelectiveFactorClassifier`, `SelectiveFactorRegressor`
fitting     a fit without scikit-learn, to all cases or without some
gaussian    `SelectiveGaussianNB`
inputs      what users pass in, checked
mixture     `SelectiveMixtureClassifier`
regression  `SelectiveNaiveRegressor`
selecting   what all estimators share
"""
