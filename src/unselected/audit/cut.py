"""Whether a cut in the scores says which columns were kept, out of all that there were."""

from dataclasses import dataclass

import numpy as np
from scipy.special import bdtrc

from unselected._typing import Bools, Floats

# Columns on either side of the cut that are looked at.
_MOST_COLUMNS = 10
# Columns just above the cut may be kept for better reasons than those just below: twice as often.
_AGREE = 2.0 / 3.0


@dataclass(frozen=True)
class CutAgreement:
    """How well "the strongest columns" describes the columns that were kept.

    Attributes
    ----------
    n_kept, n_all : int
    n_strongest : int
        Kept columns that are among the ``n_kept`` strongest of all.
    n_looked_at : int
        Columns with the scores nearest to the cut, half of them above it.
    n_agree : int
        Those of them that are kept and above, or not kept and below.
    """

    n_kept: int
    n_all: int
    n_strongest: int
    n_looked_at: int
    n_agree: int

    @property
    def p_value(self) -> float:
        """The probability of so much agreement where nobody looked at the scores of these cases.

        Columns a little above the cut are then kept hardly more often than those a little below.
        The bound lets two thirds of them agree, which is where the former are kept twice as often.
        """
        return float(bdtrc(self.n_agree - 1, self.n_looked_at, _AGREE)) if self.n_agree else 1.0


def cut_agreement(scores: Floats, is_kept: Bools) -> CutAgreement:
    """Compare the columns that were kept with the strongest ones.

    Parameters
    ----------
    scores : array of shape (n_columns,)
        Of all columns with all cases; NaN is the weakest.
    is_kept : array of shape (n_columns,)

    Returns
    -------
    agreement : CutAgreement

    Examples
    --------
    >>> agreement = cut_agreement(np.arange(100.0), np.arange(100) >= 80)
    >>> agreement.n_agree, agreement.n_looked_at, agreement.p_value < 1e-3
    (20, 20, True)
    """
    kept = is_kept[np.argsort(-np.nan_to_num(scores, nan=-1.0), kind="stable")]
    n_kept, n_all = int(kept.sum()), kept.size
    width = min(_MOST_COLUMNS, n_kept, n_all - n_kept)
    above, below = kept[n_kept - width : n_kept], kept[n_kept : n_kept + width]
    return CutAgreement(
        n_kept=n_kept,
        n_all=n_all,
        n_strongest=int(kept[:n_kept].sum()),
        n_looked_at=2 * width,
        n_agree=int(above.sum() + (~below).sum()),
    )
