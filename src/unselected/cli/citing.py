"""`unselected cite`."""

from unselected import __version__
from unselected.cli.first_commands import CitedWork
from unselected.cli.options import Speech

# As CITATION.cff has it; a test compares them.
_PAPER = """\
@techreport{li2007method,
  author      = {Li, Longhai and Zhang, Jianguo and Neal, Radford M.},
  title       = {A Method for Avoiding Bias from Feature Selection with Application to Naive
                 {Bayes} Classification Models},
  institution = {Department of Statistics, University of Toronto},
  type        = {Technical Report},
  number      = {0705},
  month       = feb,
  year        = {2007}
}"""
_SOFTWARE = f"""\
@software{{unselected,
  author  = {{{{the unselected developers}}}},
  title   = {{unselected: naive {{Bayes}} whose probabilities stay honest after feature selection}},
  version = {{{__version__}}},
  license = {{BSD-3-Clause}}
}}"""

ENTRIES = {"paper": _PAPER, "software": _SOFTWARE}


def cite(work: CitedWork, /, *, speech: Speech) -> None:
    """Do what `unselected.cli.first_commands.cite` says."""
    entries = {name: text for name, text in ENTRIES.items() if work in (name, "both")}
    speech.answer("cite", {"bibtex": entries}, "\n\n".join(entries.values()))
