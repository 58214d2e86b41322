"""One file per model: prior, simulate, condition, predict. No scikit-learn here."""
