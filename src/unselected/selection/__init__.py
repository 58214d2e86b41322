"""Scores, rules, the record of what was kept, and the event that this makes.

Public modules
--------------
correlation  |COR| of binary features, compared in exact integers
events       what is known of the omitted features: all that conditioning on selection uses
leaving_out  the scores without some of the cases
record       `Selection`, which features were kept and why
rules        top k, threshold, all, preselected; how ties at the cut are broken
scores       how related each column looks to the response
streaming    streaming top-k selection, so that memory does not grow with the number of columns
"""
