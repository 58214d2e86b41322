"""Features that depend on each other: power likelihoods, correlated likelihoods, diagnosis.

Public modules
--------------
averaging   averaging over likelihoods, with weights from cases left out
correlated  likelihoods with correlations within classes, and class-specific variances
diagnosis   whether features depend on each other, and what to do
held_out    what each case looks like to a fit without its fold
independence  how probable independence is, from correlations of strong columns and kept features
inverse_regression  the response given features that are modelled given it
pooling     evidence of an average, pooled with that of logistic regressions
power       the power of the likelihood, and the outlier fraction
response_weights  weights of regressions, from responses left out
within_class  squared correlations of pairs of features within classes
"""
