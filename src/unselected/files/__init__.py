"""Tables in, models and results out: the only room that touches the disk.

Public modules
--------------
bed            PLINK .bed files
checkpoints    finished replicates, from which a run continues
h5ad_obs       covariates of .h5ad files
labels         how features are shown to readers
models         model files
opening        `open_columns`, for files that are read by columns
sources        the base of files that are read by columns
table_request  the request for a table, and the table
tables         tables of any format, read whole
writing        files written as a whole or not at all
"""
