"""A fitted model as one HTML page that predicts without a server: a calculator for the bedside.

Python reduces a model to its form, the numbers that predictions need. Scripts in ``assets/``
predict from that form, one file for each family of models.

Public modules
--------------
page        the page
score_card  points of binary features, as a table
"""
