"""The models: prior, simulate, condition on the kept statistics and the event, predict.

Public modules
--------------
batch                posteriors of many data sets that are nearly the same
bernoulli            the paper's naive Bayes of binary features
factor               latent factors, real-valued features
gaussian             naive Bayes of real-valued features
gaussian_two_groups  the same with related and unrelated features
mixture              two latent groups of cases, binary features
regression           real-valued features and a real response
two_groups           the prior with related and unrelated features
"""
