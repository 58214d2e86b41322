"""What is left after a fit: predictions, effects, explanations and decisions from kept columns.

Public modules
--------------
decisions     decisions by expected cost
effects       effects of the kept features
explanations  what each feature adds to the log odds of a case; intervals of probabilities
naive_bayes   fitted naive Bayes models
prevalence    class probabilities where the predictions are made
"""
