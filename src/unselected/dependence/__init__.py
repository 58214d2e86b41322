"""Features that depend on each other: power likelihoods, correlated likelihoods, diagnosis.

Public modules
--------------
averaging   averaging over likelihoods, with weights from cases left out
correlated  likelihoods with correlations within classes, and class-specific variances
diagnosis   whether features depend on each other, and what to do
held_out    what each case looks like to a fit without its fold
power       the power of the likelihood, and the outlier fraction
"""
