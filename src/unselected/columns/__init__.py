"""Any table as blocks of columns: arrays, sparse matrices, dask arrays, files that stay closed.

Public modules
--------------
blocks        reading columns in blocks, in threads; errors that name a column and a row
content_keys  keys of rows and columns that do not depend on their order
dask          dask arrays, processed where their chunks are
sources       `ColumnSource`, the contract of all tables that are read by columns; sparse matrices,
              and arrays whose columns have names
subset        some of the columns of a table
without       a source without some of its columns
"""
