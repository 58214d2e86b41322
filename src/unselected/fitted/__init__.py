"""Fitted models: predictions, effects, explanations and decisions from the kept columns.

Public modules
--------------
adjusted_bits  binary features given covariates
adjusted_gaussian  naive Bayes of real-valued features, given covariates
adjusted_regression  a real response and covariates
base          the contract of every fitted model
bernoulli     naive Bayes of binary features
counts        what bits and genotypes have in common
covariate_coding  how covariates become numbers
covariate_table  covariates, the columns beside the features
decisions     decisions by expected cost
description   a description of each kept feature
effects       effects of the kept features
explanations  what each feature adds to the log odds of a case
factor        latent factors
families      binary and real-valued features together
gaussian      naive Bayes of real-valued features
genotype      naive Bayes of genotypes
json_checks   entries of a JSON file, each checked
json_parts    the parts that model files share
json_response_stack  the regressions of an average, in a model file
listing       records as a table of fixed width
mixture       two latent groups of cases
predictor     predictions without scikit-learn
prevalence    class probabilities of the population to predict
probability_intervals  posterior intervals of predicted probabilities
ranges        training ranges of the kept columns, and rows outside of them
regression    real-valued features and a real response
response_stack  an average over regressions of a real response
stack         an average over models with different numbers of features
"""
