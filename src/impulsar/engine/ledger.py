"""The books' layout: where a stage keeps the powers of slots, loads and fluids in WorkArrays.k_book.

    work of slot r            r                 of its own force [W]
    loss of slot r            slots + r         in its damper [W]
    viscous loss of slot r    2 slots + r       in its viscous friction [W]
    work of load k            3 slots + k       [W]
    fluid f                   3 slots + loads + 3 f: work of buoyancy, work of what moves in it, loss in drag [W]

after as many times `ledger_size` as there are stages before. Forces and the solve of an instant write powers,
integrate/books.py sums them up, and this is all they share: so it stands below both. The functions are called by
kernels and by the host.
"""

import warp as wp

from . import device  # noqa: F401  Warp is started before its first use

STAGES = 7  # of a sub-step, at most


BUOYANCY, CURRENT, DRAG = 0, 1, 2  # entries of a fluid


@wp.func
def ledger_size(slots: int, loads: int, fluids: int) -> int:
    """Entries of one stage."""
    return 3 * slots + loads + 3 * fluids


@wp.func
def work_entry(book: int, slots: int, r: int) -> int:
    """Work of a slot, in the stage that begins at `book`."""
    return book + r


@wp.func
def loss_entry(book: int, slots: int, r: int) -> int:
    """Loss in a slot's damper."""
    return book + slots + r


@wp.func
def viscous_entry(book: int, slots: int, r: int) -> int:
    """Loss in a slot's viscous friction."""
    return book + 2 * slots + r


@wp.func
def load_entry(book: int, slots: int, k: int) -> int:
    """Work of a load."""
    return book + 3 * slots + k


@wp.func
def fluid_entry(book: int, slots: int, loads: int, k: int) -> int:
    """Entry k of all that fluids have, three each."""
    return book + 3 * slots + loads + k
