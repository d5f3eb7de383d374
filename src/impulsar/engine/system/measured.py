"""Rows of what steps measure."""

from collections.abc import Sequence

import numpy as np

# Of WorkArrays.energy.
KINETIC, POTENTIAL, ELASTIC = 0, 1, 2

# Of WorkArrays.report, over the steps of one launch.
ITERATIONS, TOTAL_ITERATIONS, MOST_ITERATIONS = 0, 1, 2
ENDED_BY_LIMIT = 3  # steps that the iteration limit ended
POSITION_RESIDUAL, POSITION_SLOT = 4, 5  # worst bilateral row before the last step's correction
VELOCITY_RESIDUAL, VELOCITY_SLOT = 6, 7  # worst bilateral row after the last step's solve
ROWS = 8  # in the last step
BROKEN = 9  # 0, or why the step could not be taken:
NOT_FINITE, FORCES, UNDERFLOW, WORK, TORN, UNSOLVED, RUNAWAY = 1, 2, 3, 4, 5, 6, 7
SUB_STEPS = 10  # of an error-controlled method
COARSE = 11  # tolerance of what was left of steps that the limit of work ended; infinity: by impulses
IMBALANCE = 12  # of the books, of all energy that was turned over
FASTEST = 13  # spin of a body at the end [rad/s]
MODE_CHANGES = 15  # of friction and limits that were located
ROWS_LEFT_OUT = 14  # most rows of a step for which there was no room
CONTACTS_LEFT_OUT = 16  # most contacts of a step for which there was no room
CONTACT_RESIDUAL = 17  # worst error of contacts after a solve, of the largest impulse
OVERLAP = 19  # deepest that was left by a projection [m]
CONTACTS = 18  # that were found last, also such as may come
UNBOOKED = 20  # energy in motion and springs that is from nowhere, of all that the books account for

SUMS = [TOTAL_ITERATIONS, SUB_STEPS, ENDED_BY_LIMIT, MODE_CHANGES]
WORST = [  # rows of a report of which the largest counts
    *(MOST_ITERATIONS, BROKEN, COARSE, ROWS_LEFT_OUT),
    *(CONTACTS_LEFT_OUT, CONTACT_RESIDUAL, OVERLAP),
]
RESIDUALS = (  # and where it is
    (POSITION_RESIDUAL, POSITION_SLOT),
    (VELOCITY_RESIDUAL, VELOCITY_SLOT),
)


def together(raws: Sequence[np.ndarray]) -> np.ndarray:
    """Rows of several reports, one after the other, as those of one [row, world]."""
    every = np.stack(raws)
    found, worlds = every[-1].copy(), np.arange(every.shape[2])
    found[SUMS] = every[:, SUMS].sum(axis=0)
    found[WORST] = every[:, WORST].max(axis=0)
    for row, slot in RESIDUALS:
        worst = every[:, row].argmax(axis=0)
        found[row], found[slot] = every[worst, row, worlds], every[worst, slot, worlds]
    return found
