"""The omission probability: the probability that a feature is not kept, given the parameters.

Public modules
--------------
binary   binary features, two classes
count_plan   how binary features in many classes are summed, and the work of that
count_tables  binary features, several classes or given their totals
factor   real-valued features with latent factors
laws     real-valued features that were selected by another score
many_cases  binary features, many cases
many_classes  binary features, more classes than can be enumerated
mixture  binary features with latent groups of cases
pair_sums  binary features in two classes, given totals, at several alphas
several_classes  binary features, three or more classes, or two given their totals
real     real-valued features, classes or a real response
table    the omission probability as a function of tau
"""
