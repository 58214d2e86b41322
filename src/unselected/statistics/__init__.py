"""One pass over a table: class counts or moments of every column, also without some cases.

Public modules
--------------
binarizing     how a column becomes bits
counting       the pass over binary columns
counts         the numbers of ones by class
leaving_out    sets of cases that are left out, and the statistics without them
line           the statistics of a model of a real response
moments        means, sums of squares, and contrasts
normal_scores  a monotone transform of real-valued columns
rows           the kept columns themselves, for models with latent variables
summing        the pass over real-valued columns
tally          how many columns have which totals and numbers of known values
unscored       columns with too few known values
"""
