"""How a table may lie in memory."""

import numpy as np
import pytest


@pytest.fixture(params=["C", "F", "every second column"])
def memory(request):
    def arrange(X):
        if request.param == "every second column":
            return np.repeat(X, 2, axis=1)[:, ::2]
        return np.asarray(X, order=request.param)

    return arrange
