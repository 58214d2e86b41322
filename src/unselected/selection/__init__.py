"""Scores, rules, the record of what was kept, and the event of the selection.

Public modules
--------------
correlation  |COR| of binary features, compared in exact integers
events       what is known of the omitted features; models condition on it
leaving_out  the scores without some of the cases
record       `Selection`, which features were kept and why
rules        top k, threshold, all, preselected; how ties at the cut are broken
scores       the score of each column with the response
streaming    streaming top-k selection, so that memory does not grow with the number of columns
"""
