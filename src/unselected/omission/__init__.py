"""The omission probability: the probability that a feature is not kept, given the parameters.

Public modules
--------------
binary   binary features, two classes
factor   real-valued features with latent factors
mixture  binary features with latent groups of cases
real     real-valued features, classes or a real response
"""
