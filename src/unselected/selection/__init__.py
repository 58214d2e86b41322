"""Scores, rules, the record of what was kept, and the event of the selection.

Public modules
--------------
correlation        |COR| of binary features, compared in exact integers
count_score        what a score of binary features is; correlation and F
count_score_kinds  the other scores of binary features, and those that users define
count_scores       the scores of binary columns
events             what is known of the omitted features; models condition on it
explained          R^2 of binary features with several classes, compared in exact integers
families           the scores of a table with binary and real-valued columns
fisher             p-values of Fisher's exact test
leaving_out        the scores without some of the cases
real_score         what another score of real-valued features than correlation and F is
real_score_kinds   these scores, and those that users define
real_scores        the scores of real-valued columns
record             `Selection`, which features were kept and why
rules              top k, threshold, all, preselected; how ties at the cut are broken
score_names        the names of scores in words, and the values that they can have
scored_columns     scores of real values, and their events
scored_event       the event of another score of real values
scores             what a rule asks of the scores of columns
streaming          streaming top-k selection: memory does not grow with the number of columns
values_without     scores of real values without some of the cases
"""
