"""
A calculator: what a patient's values say, one after another
============================================================

A model keeps 12 of 2000 genes. Laboratories deliver results one by one, and a prediction is wanted
at any time. Values that are not there yet are left out of the model, not filled in.
"""

import html
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from unselected import SelectiveGaussianNB
from unselected.calculator.page import calculator_page
from unselected.files.labels import Label
from unselected.files.models import load_model, save_model

rng = np.random.default_rng(5)
n, p = 120, 2000
sick = np.arange(n + 2) % 2 == 1
X = rng.normal(size=(n + 2, p))
X[:, :25] += np.where(sick, 0.45, -0.45)[:, np.newaxis] * rng.choice([-1, 1], 25)
table = pd.DataFrame(X).add_prefix("gene")
y = np.where(sick, "sick", "well")

model = SelectiveGaussianNB(k=12, prior="sparse").fit(table[:n], y[:n])

# %%
# Two new patients, one well and one sick. With no value known the probability is the prevalence,
# which intervals take as certain. Each value moves it. Bands are 90 % intervals: how much the
# probability depends on how related the genes are, which 120 cases do not tell exactly.

kept = model.selection_.indices
fig, ax = plt.subplots(figsize=(7.5, 4.3), layout="constrained")
for patient, (name, color) in enumerate((("well", "#0b3d6e"), ("sick", "#d9630f"))):
    known = np.full((kept.size + 1, p), np.nan)
    for step, column in enumerate(kept):
        known[step + 1 :, column] = X[n + patient, column]
    rows = pd.DataFrame(known, columns=table.columns)
    place = list(model.classes_).index("sick")
    probability = model.predict_proba(rows)[:, place]
    low, high = (end[:, place] for end in model.predict_proba_interval(rows, level=0.9))
    steps = np.arange(kept.size + 1)
    ax.fill_between(steps, low, high, color=color, alpha=0.18, lw=0)
    ax.plot(steps, probability, "o-", color=color, lw=2)
    ax.annotate(
        f"is {name}", (kept.size, probability[-1]), (8, 0), textcoords="offset points", color=color
    )
ax.axhline(0.5, color="0.7", lw=1, zorder=0)
ax.set(xlabel="values known", ylabel="probability of being sick", ylim=(0, 1))
ax.set_xlim(-0.2, kept.size + 1.4)
ax.spines[["top", "right"]].set_visible(False)

# %%
# The same as a page that anyone can open and fill in, without Python, a server or a network. On the
# command line it is ``unselected export model.json -o calculator.html``. Try it:


class Shown:
    """A page inside of this one."""

    def __init__(self, page):
        self.page = page

    def _repr_html_(self):
        inside, style = html.escape(self.page), "width: 100%; height: 46rem; border: 1px solid gray"
        return f'<iframe title="calculator" style="{style}" srcdoc="{inside}"></iframe>'


names = ("rule", "ties", "threshold", "statistic", "n_features", "n_omitted")
selection = {name: getattr(model.selection_, name) for name in names}
selection["scores"] = model.scores_.tolist()
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "model.json"
    provenance = {"unselected": "0.1.0"}
    save_model(model.panel().predictor, path, selection=selection, provenance=provenance)
    saved = load_model(path)
labels = {f"gene{kept[0]}": Label("Gene of interest", "log2")}
Shown(calculator_page(saved, title="Who is sick?", labels=labels))
