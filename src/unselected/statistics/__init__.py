"""One pass over a table: class counts or moments of every column, also without some cases.

Public modules
--------------
adjusted_moments  moments with covariates projected out
adjusted_sums  the sums that they come from
binarizing     how a column becomes bits
bit_columns    a table of numbers, read as bits
counting       the pass over binary columns
counts         the numbers of ones by class
design         covariates and codes of the response
genotypes      how a column of 0, 1 and 2 is read
leaving_out    sets of cases that are left out, and the statistics without them
line           the statistics of a model of a real response
moments        means, sums of squares, and contrasts
normality      whether columns look normal
normal_scores  a monotone transform of real-valued columns
projecting     what covariates say of columns
rows           the kept columns themselves, for models with latent variables
scored_sums    moments together with scores that are no function of them
summing        the pass over real-valued columns
tally          how many columns have which totals and numbers of known values
unscored       columns with too few known values
variance_prior the prior that the variances of all columns suggest
"""
