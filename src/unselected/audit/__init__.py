"""The audit of anyone's pipeline: selections outside of the folds, and promises that are not kept.

Public modules
--------------
record        what an audit found
usual         the usual pipelines, by name
weak_columns  evidence that weak columns are missing
wording       verdict and advice, in the words of Python and of the shell
"""

from unselected.audit.check import check_selection
from unselected.audit.record import SelectionAudit

__all__ = ["SelectionAudit", "check_selection"]
