"""Any table as blocks of columns: arrays, sparse matrices, dask arrays, files that stay closed.

Public modules
--------------
blocks   in which blocks columns are read, in threads; errors that name a column and a row
dask     dask arrays, worked on where their chunks are
sources  `ColumnSource`, what all tables that are read by columns have in common; sparse matrices
subset   some of the columns of a table
"""
