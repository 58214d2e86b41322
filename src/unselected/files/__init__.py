"""Tables in, models and results out: the only room that touches the disk.

Public modules
--------------
bed            PLINK .bed files
checkpoints    experiments that can be continued
codecs         models as checked entries
features       what a model says of each kept feature
models         model files
opening        `open_columns`, for files that are read by columns
sources        what files that are read by columns have in common
table_request  what is asked of a table, and the table
tables         tables of any format, read whole
writing        files written as a whole or not at all
"""
