"""
Several classes in one table of bits and numbers
================================================

Three classes, 600 columns of which half are binary and half real-valued. The front door takes the
table as it is. The triangle shows the probabilities of new cases.
"""

import matplotlib.pyplot as plt
import numpy as np

from unselected import SelectiveClassifier

COLORS, MARKERS = ("#0b3d6e", "#d9630f", "#56b4e9"), ("o", "s", "^")

CLASSES = ("B-cell", "T-cell", "myeloid")


def draw(n, rng):
    """Return cases of which each class has eight columns of its own."""
    y = np.repeat(CLASSES, n // 3)
    X = rng.normal(size=(n, 600))
    for place, name in enumerate(CLASSES):
        X[:, 8 * place : 8 * (place + 1)] += 1.1 * (y == name)[:, np.newaxis]
    X[:, ::2] = X[:, ::2] > 0.5  # every second column becomes binary
    return X, y


rng = np.random.default_rng(0)
X, y = draw(90, rng)
X_new, y_new = draw(300, rng)
model = SelectiveClassifier(k=20).fit(X, y)
probability = model.predict_proba(X_new)

# %%
# A corner is certainty, the middle of the triangle is none.

corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
place = probability @ corners
fig, ax = plt.subplots(figsize=(6, 5.4), layout="constrained")
ax.fill(*corners.T, facecolor="0.97", edgecolor="0.6")
middle = corners.mean(axis=0)
for side in range(3):
    half = (corners[side] + corners[(side + 1) % 3]) / 2
    ax.plot(*np.transpose([middle, half]), color="0.8", lw=1)
for name, color, marker in zip(model.classes_, COLORS, MARKERS, strict=True):
    ax.plot(*place[y_new == name].T, marker, color=color, label=name, alpha=0.8)
for name, (across, up) in zip(model.classes_, corners, strict=True):
    ax.text(across, up + (0.03 if up else -0.06), name, ha="center")
ax.legend(title="true class", frameon=False, loc="upper left")
ax.set_aspect("equal")
ax.axis("off")

wrong = model.classes_[probability.argmax(axis=1)] != y_new
expected = np.mean(1 - probability.max(axis=1))
print(f"new cases: expects {expected:.0%} errors, makes {wrong.mean():.0%}")
