"""The models: prior, simulate, condition on the kept statistics and the event, predict.

Public modules
--------------
adjusted_regression  a real response given covariates
batch               posteriors of many data sets that are nearly the same
bernoulli           the paper's naive Bayes of binary features
bernoulli_likelihood  its likelihood as a function of alpha
bernoulli_posterior its posterior
class_covariates    what covariates say of the classes
class_regression    classes given covariates, by logistic regression
count_omission      which sums give the omission probability of binary features
count_terms         the likelihood of features with the same numbers of known values
direct_regression   ridge regressions of the response on the features
distinct_counts     the distinct vectors of counts of binary features
factor              latent factors, real-valued features
factor_predictive   its predictions of new cases
feature_map         columns, and squares of their principal components, for a regression
fractions           the fraction of related features: its prior, and integrals over it
gaussian            naive Bayes of real-valued features
gaussian_posterior  its posterior
gaussian_prior      its prior
logistic_ridges     logistic regressions of the classes on the features, with ridges
mixture             two latent groups of cases, binary features
mixture_posterior   its predictions of new cases
predictive          predictive distributions of a real response
regression          real-valued features and a real response
regression_posterior  its posterior
related             which features are related
response_covariates what covariates say of a real response
response_transform  a monotone transform of a skewed response
student_mixture     mixtures of Student t distributions
two_groups          the prior with related and unrelated features
"""
