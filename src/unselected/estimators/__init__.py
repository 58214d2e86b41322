"""scikit-learn classes: validate, select, condition, predict. Plain words from here upwards."""
