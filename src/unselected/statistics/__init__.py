"""One pass over a table: class counts or moments of every column, also without some cases.

Public modules
--------------
binarizing   how a column becomes bits
counting     the pass over binary columns
counts       the numbers of ones by class
leaving_out  sets of cases that are left out, and the statistics without them
moments      means, sums of squares, and contrasts
summing      the pass over real-valued columns
"""
