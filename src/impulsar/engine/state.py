"""State: everything that must be kept to go on stepping, in one array.

The state is one float64 array [row, world]. Its blocks of rows have names, and who needs one says so: the parts of the
engine in `CONTRIBUTORS`, a method in `state_blocks`. `StateArrays` holds a view of each for the kernels, and one of all
blocks of the method in use: a snapshot is one copy. Files keep blocks by name, so that one more leaves old ones
readable. `WorkArrays` holds what the stages of a step hand to each other; all of it follows from the state and the
system.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from .ledger import STAGES, ledger_size
from .options import places
from .owed import keep_owed
from .spatial import f64, mat33, quat, vec3, vec6


@dataclass(frozen=True)
class Counts:
    """How many of everything there are."""

    bodies: int
    joints: int  # tree joints first: joint i < bodies carries body i
    dofs: int  # velocities of the tree joints
    coordinates: int  # positions of the tree joints (a ball has 4)
    loop_freedoms: int  # freedoms of the joints that close loops
    slots: int  # rows that may become active
    rows: int  # the same and room for those that come and go
    row_entries: int  # of all rows together: the freedoms of the trees that each touches
    bilaterals: int  # of these, solved together by a direct solve
    solvables: int  # the same and the compliant ones
    spares: int  # 1: room to choose among rows of which some imply others
    envelope: int  # entries of its factor
    frictions: int  # Coulomb friction rows
    modal: int  # rows that have modes: friction and limits, see engine/integrate/modes.py
    contacts: int  # that may be there at a time
    springs: int
    hands: int
    turns: int  # of these, with room to turn what they hold: all or none
    loads: int
    inner: int  # states of force elements
    channels: int
    worlds: int
    fluids: int = 0
    pieces: int = 0  # of bodies in fluids
    sensing: int = 0  # numbers that sensors keep


@wp.struct
class StateArrays:
    """Views of the state's blocks, all [row, world]."""

    q: wp.array2d(dtype=f64)  # tree coordinates [m, rad, quaternion]; written by drift
    v: wp.array2d(dtype=f64)  # tree velocities [m/s, rad/s]; kick, sweep
    impulse: wp.array2d(dtype=f64)  # accumulated impulse of each slot [N s, N m s]; sweep
    inner: wp.array2d(dtype=f64)  # states of force elements: deflections of tyres [m]; integrate/inner
    loop_q: wp.array2d(dtype=f64)  # coordinates of loop joints, whole turns counted [m, rad]; kinematics
    hand_target: wp.array2d(dtype=f64)  # where each hand is now, 3 rows each [m]; kick
    hand_turn: wp.array2d(dtype=f64)  # how each is turned now, a rotation vector, 3 rows each [rad]; kick
    work: wp.array2d(dtype=f64)  # work of each slot's own force [J]; measure
    loss: wp.array2d(dtype=f64)  # loss in each slot's damper [J]; measure
    viscous_loss: wp.array2d(dtype=f64)  # loss in each slot's viscous friction [J]; measure
    load_work: wp.array2d(dtype=f64)  # work of each load [J]; measure
    fluid_work: wp.array2d(dtype=f64)  # [3 · fluid] work of buoyancy and current, loss in drag [J]; measure
    past_hands: wp.array2d(dtype=f64)  # work, loss of the hands released [J]; edits
    start_energy: wp.array2d(dtype=f64)  # total energy the books start from [J]; edits
    time: wp.array2d(dtype=f64)  # [s]; drift
    mode: wp.array2d(dtype=f64)  # [slot] friction: which way it slides, 0: it sticks; limit: 1 closed, 0 open; modes
    last_h: wp.array2d(dtype=f64)  # step of the impulses, 0: they are forces of an instant times the nominal step [s]
    past_parts: wp.array2d(dtype=f64)  # work, loss of the parts removed [J]; edits
    edits: wp.array2d(dtype=f64)  # energy that edits put into the mechanism [J]; edits
    clamped: wp.array2d(dtype=f64)  # energy that clamps took out [J]; clamps
    contact: wp.array2d(dtype=f64)  # contacts of the last step; see engine/integrate/contacts.py
    contact_work: wp.array2d(dtype=f64)  # work of contacts [J]; measure
    method: wp.array2d(dtype=f64)  # all blocks of the method in use, in the order in which it names them
    method_at: wp.array(dtype=wp.int32)  # [block] where each begins in `method`


@wp.struct
class WorkArrays:
    """What the stages of one step hand to each other, [part, world] unless said."""

    # kinematics
    p_WB: wp.array2d(dtype=vec3)  # centre of mass [m]
    q_WB: wp.array2d(dtype=quat)
    twist: wp.array2d(dtype=vec6)  # of the centre of mass, world axes [rad/s, m/s]
    I_W: wp.array2d(dtype=mat33)  # inertia about the centre of mass, world axes [kg m²]
    I_inv: wp.array2d(dtype=mat33)  # its inverse, of single free bodies
    A_ww: wp.array2d(dtype=mat33)  # added inertia, of bodies in fluids; see added_mass
    A_wv: wp.array2d(dtype=mat33)
    A_vv: wp.array2d(dtype=mat33)
    wet_volume: wp.array2d(dtype=f64)  # [piece] below the surface at rest [m³]
    wet_moment: wp.array2d(dtype=vec3)  # [piece] its first moment about the centre of mass, world axes [m⁴]
    wet_slope: wp.array2d(dtype=vec6)  # [piece] its rate is this times the twist [m³, m²]
    wet_under: wp.array2d(dtype=wp.int32)  # [piece, and piece in waves] see engine/integrate/surfaces.py
    r: wp.array2d(dtype=vec3)  # from the parent's centre of mass to this one [m]
    S: wp.array2d(dtype=vec6)  # [dof] twist of the body per unit of joint velocity
    bias: wp.array2d(dtype=vec6)  # acceleration of the body at zero joint and parent acceleration
    a_WB: wp.array2d(dtype=vec3)  # acceleration of the centre of mass over the last step [m/s²]
    # frames of the joints that close loops, [joint - bodies]
    p_WF: wp.array2d(dtype=vec3)
    q_WF: wp.array2d(dtype=quat)
    p_WM: wp.array2d(dtype=vec3)
    q_WM: wp.array2d(dtype=quat)
    # forces
    wrench: wp.array2d(dtype=vec6)  # applied to the body, about its centre of mass [N m, N]
    tau: wp.array2d(dtype=f64)  # [dof] applied in the joint [N m, N]
    inner_rate: wp.array2d(dtype=f64)  # [inner] of the states of force elements at an instant
    # articulated bodies
    U: wp.array2d(dtype=vec6)  # [dof] articulated inertia times S
    D_inv: wp.array2d(dtype=f64)  # [dof] 1 / (S · U)
    u: wp.array2d(dtype=f64)  # [dof] joint force less bias
    IA_ww: wp.array2d(dtype=mat33)  # handed up by children that do not follow their parent at once
    IA_wv: wp.array2d(dtype=mat33)
    IA_vv: wp.array2d(dtype=mat33)
    pA: wp.array2d(dtype=vec6)
    acceleration: wp.array2d(dtype=vec6)  # [rad/s², m/s²], gravity taken off
    change: wp.array2d(dtype=vec6)  # velocity changes by a test impulse
    spun: wp.array2d(dtype=vec3)  # angular momentum after coasting over the drift, body axes; see inertial
    carried: wp.array2d(dtype=vec6)  # [2 · body] what a tree keeps over the drift, at its root; see inertial
    kept: wp.array2d(dtype=vec6)  # and what of its momentum a body keeps as it is, world axes
    twist_end: wp.array2d(dtype=vec6)  # [rad/s, m/s] of the velocities that a step's solve has left
    twist_pseudo: wp.array2d(dtype=vec6)  # [rad/s, m/s] of the pseudo-velocities
    moved: wp.array2d(dtype=vec6)  # [rad, m] displacement along which forces are differentiated; see geometric
    pull: wp.array2d(dtype=vec6)  # what acts on the body, and then on all that it carries
    pull_rate: wp.array2d(dtype=vec6)  # and by how much it changes with the displacement
    qdd: wp.array2d(dtype=f64)  # [dof]
    v_old: wp.array2d(dtype=f64)  # [dof] velocity before the step
    v_pseudo: wp.array2d(dtype=f64)  # [dof] moves positions only (split impulses)
    shift: wp.array2d(dtype=f64)  # [dof] displacement by which a projection or an implicit stage moves q [m, rad]
    lag_q: wp.array2d(dtype=f64)  # [dof] what earlier stages leave to an implicit one: γ bq + wq, see rosenbrock
    lag_v: wp.array2d(dtype=f64)  # [dof] and wv
    # rows; see engine/constrain/topology.py
    row_count: wp.array2d(dtype=wp.int32)  # [1] how many there are: slots, and what came with this step
    listed: wp.array2d(dtype=wp.int32)  # [1] SystemArrays.listing of the slots that are listed, 0: they do not last
    rows_missing: wp.array2d(dtype=wp.int32)  # [1] rows that found no room since they were listed
    row_kind: wp.array2d(dtype=wp.int32)  # of engine/system/slots.py
    row_part: wp.array2d(dtype=wp.int32)  # joint, spring, hand or coupling
    row_trees: wp.array2d(dtype=wp.int32)  # [4 · row + n] trees that it touches, ascending, as slot_trees has them
    row_start: wp.array2d(dtype=wp.int32)  # [row + 1] where it begins in J and Y
    row_group: wp.array2d(dtype=wp.int32)  # of rows bounded together: how many at the first, 0 at the others; 1 alone
    row_bound_of: wp.array2d(dtype=wp.int32)  # row whose impulse its bounds are multiples of, -1: none
    row_weight: wp.array2d(dtype=f64)  # of |J|²: 1 / size² where the row is in metres, so that they compare
    pair_first: wp.array2d(dtype=wp.int32)  # [row - slots] bodies, axes and point of rows that come and go
    pair_second: wp.array2d(dtype=wp.int32)
    pair_turn: wp.array2d(dtype=vec3)
    pair_slide: wp.array2d(dtype=vec3)
    pair_point: wp.array2d(dtype=vec3)
    active: wp.array2d(dtype=wp.int32)  # the rows that act in this step
    row_bias: wp.array2d(dtype=f64)  # J v + bias + softness · impulse = 0
    row_softness: wp.array2d(dtype=f64)
    row_low: wp.array2d(dtype=f64)  # bounds of the impulse [N s, N m s], or of its ratio to that of row_bound_of
    row_high: wp.array2d(dtype=f64)
    row_error: wp.array2d(dtype=f64)  # position error to be removed by pseudo-velocity [m, rad]
    row_mass: wp.array2d(dtype=f64)  # effective mass, 0 where degenerate
    row_pseudo: wp.array2d(dtype=f64)  # accumulated pseudo-impulse
    row_torque: wp.array2d(dtype=f64)  # of a motor that a direct solve has found at its bound, else 0 [N, N m]
    stretch_due: wp.array2d(dtype=f64)  # of a spring or hand at the end of the step, as it was solved for [m]
    stretch_still: wp.array2d(dtype=f64)  # and without a drift [m]
    hand_off: wp.array2d(dtype=vec3)  # [hand] rotation from its target to its body when its torque was last taken [rad]
    hand_spin: wp.array2d(dtype=vec3)  # [hand] and how its target turned then [rad/s]
    row_size: wp.array2d(dtype=f64)  # |J|², turns and shifts made comparable by the mechanism's length
    row_strength: wp.array2d(dtype=f64)  # what the rows before leave of it; see solve/bilateral
    gram: wp.array2d(dtype=f64)  # [bilateral · bilaterals + bilateral] products of the rows, where some are spare
    row_late: wp.array2d(dtype=f64)  # compliant: 0 where its force is taken midway, 1 where at the end of the step
    strike: wp.array2d(dtype=f64)  # impulse of an impact at the start of a sub-step [N s, N m s]
    feedback: wp.array2d(dtype=f64)  # rate at which a motor that is off its target goes back [1/s]
    push: wp.array2d(dtype=f64)  # acceleration that keeps a motor on its target [m/s², rad/s²]
    block: wp.array2d(dtype=f64)  # [6 · slot + column] LDLᵀ of a joint's closures, 1/D on the diagonal
    block_rhs: wp.array2d(dtype=f64)  # [6]
    reaction: wp.array2d(dtype=vec6)  # [joint] on the second body about M's origin [N m, N]
    transmitted: wp.array2d(dtype=vec6)  # [body] through its tree joint, about its centre of mass
    own_torque: wp.array2d(dtype=vec3)  # [body] of the rows in its tree joint, on the second body [N m]
    J: wp.array2d(dtype=f64)  # rows in joint space, each over the trees it touches
    Y: wp.array2d(dtype=f64)  # M⁻¹ Jᵀ, likewise
    solved: wp.array2d(dtype=wp.int32)  # [row] 1: in the present direct solve
    factor: wp.array2d(dtype=f64)  # [envelope] L below the diagonal, 1/D on it
    geometry: wp.array2d(dtype=f64)  # [envelope] the same of J Jᵀ, where rows are judged by it
    rhs: wp.array2d(dtype=f64)  # [bilateral] what the rows lack in acceleration without multipliers [m/s², rad/s²]
    multiplier: wp.array2d(dtype=f64)  # [bilateral + soft] solution of the last direct solve
    newton: wp.array2d(dtype=f64)  # [unknown · unknowns + unknown] of a method that solves for all at once
    newton_step: wp.array2d(dtype=f64)  # [unknown] its right side, then its solution
    frozen: wp.array2d(dtype=f64)  # [2 row entries + envelope] J, Y and factor at the start of an implicit step
    # sub-steps
    p_from: wp.array2d(dtype=vec3)  # [body] pose at the start of a flight; see rattle
    q_from: wp.array2d(dtype=quat)
    q_start: wp.array2d(dtype=f64)  # state at the start of the sub-step
    v_start: wp.array2d(dtype=f64)
    loop_start: wp.array2d(dtype=f64)  # [loop freedom]
    inner_start: wp.array2d(dtype=f64)  # [inner]
    k_q: wp.array2d(dtype=f64)  # [stage · coordinates + coordinate] derivatives of the stages
    k_v: wp.array2d(dtype=f64)
    k_inner: wp.array2d(dtype=f64)  # [stage · inner + state]
    k_book: wp.array2d(dtype=f64)  # [stage · ledger_size + entry] powers of the stages; see ledger
    sticking: wp.array2d(dtype=wp.int32)  # [friction] slots solved directly after the sweep
    stick_matrix: wp.array2d(dtype=f64)  # [friction · frictions + friction]
    stick_rhs: wp.array2d(dtype=f64)
    # rows that are locked in a smooth sub-step; see engine/solve/locked.py
    locked: wp.array2d(dtype=wp.int32)  # [locked] row
    lock_count: wp.array2d(dtype=wp.int32)  # [1] how many are
    lock_matrix: wp.array2d(dtype=f64)  # [locked · modal + locked] responses with the bilateral rows holding
    lock_factor: wp.array2d(dtype=f64)  # LDLᵀ of it, a little of the diagonal added
    lock_rhs: wp.array2d(dtype=f64)  # [locked] accelerations, or velocities, to be taken off
    lock_force: wp.array2d(dtype=f64)  # [locked] forces, or impulses
    lock_step: wp.array2d(dtype=f64)  # [locked]
    lock_couple: wp.array2d(dtype=f64)  # [locked · bilaterals + bilateral] responses of the bilateral rows to it
    lock_share: wp.array2d(dtype=f64)  # [locked · bilaterals + bilateral] what the bilateral rows give for a unit of it
    lock_column: wp.array2d(dtype=f64)  # [bilateral]
    at_rest: wp.array2d(dtype=wp.int32)  # [row] 1: it may lock or let go at this instant; 2: a limit that is struck
    watch_start: wp.array2d(dtype=f64)  # [row, then of wet_under] how far from a change, at the near end of a search
    watch_end: wp.array2d(dtype=f64)  # [row] and at its far end
    crossing: wp.array2d(dtype=wp.int32)  # [row] 1: it changes its mode somewhere in the search
    watch_try: wp.array2d(dtype=f64)  # [row] and in between
    trace: wp.array2d(dtype=f64)  # [sub-step] ends of the last nominal step's sub-steps; no room unless asked for [s]
    # measure
    energy: wp.array2d(dtype=f64)  # kinetic, potential, elastic [J]
    report: wp.array2d(dtype=f64)  # see measure.REPORT


CONTACT_NUMBERS = 21
Contact = places(  # of its numbers: as in engine/collide/arrays.py, and the bodies, -1: ground
    **{"first": 0, "second": 1, "mode": 2, "gap": 3, "in_first": 4, "in_second": 7},
    **{"impulse": 10, "point": 13, "normal": 16, "on_first": 19, "on_second": 20},
)

# how long the values of a block hold
ALWAYS = "always"  # they are carried over into a changed system
TILL_STIFFER = "till stiffer"  # till a hand takes hold, a spring is new, or bodies are put elsewhere
OF_SYSTEM = "of the system"  # they begin anew with every system that is built


@dataclass(frozen=True)
class Block:
    """Rows of the state that belong together."""

    name: str
    rows: int
    each: str = ""  # what its rows are of, by whose names files keep them: "slot" or "load"
    lasts: str = ALWAYS  # of a method's block


def coordinate_blocks(n: Counts) -> Iterable[Block]:
    """Of trees, and of the joints that close loops."""
    return Block("q", n.coordinates), Block("v", n.dofs), Block("loop_q", n.loop_freedoms)


def row_blocks(n: Counts) -> Iterable[Block]:
    """Warm starts and books of the slots; the impulses of rows that come and go follow those of the slots."""
    books = (Block(name, n.slots, "slot") for name in ("work", "loss", "viscous_loss", "mode"))
    return (Block("impulse", n.slots, "slot"), Block("coming", n.rows - n.slots), *books)


def hand_blocks(n: Counts) -> Iterable[Block]:
    return Block("hand_target", 3 * n.hands), Block("hand_turn", 3 * n.turns), Block("past_hands", 2)


def load_blocks(n: Counts) -> Iterable[Block]:
    return (Block("load_work", n.loads, "load"),)


def fluid_blocks(n: Counts) -> Iterable[Block]:
    return (Block("fluid_work", 3 * n.fluids),)


def contact_blocks(n: Counts) -> Iterable[Block]:
    """What is kept of contacts: their number, then the numbers of each, where `Contact` says."""
    return Block("contact", 1 + CONTACT_NUMBERS * n.contacts if n.contacts else 0), Block("contact_work", 1)


def inner_blocks(n: Counts) -> Iterable[Block]:
    return (Block("inner", n.inner),)


def book_blocks(n: Counts) -> Iterable[Block]:
    return Block("past_parts", 2), Block("edits", 1), Block("clamped", 1), Block("start_energy", 1)


def clock_blocks(n: Counts) -> Iterable[Block]:
    return Block("time", 1), Block("last_h", 1)


def sensor_blocks(n: Counts) -> Iterable[Block]:
    """What sensors keep, one after the other; see observe/sensing.py."""
    return (Block("sensor", n.sensing),)


CONTRIBUTORS: tuple[Callable[[Counts], Iterable[Block]], ...] = (
    coordinate_blocks,
    row_blocks,
    hand_blocks,
    load_blocks,
    book_blocks,
    clock_blocks,
    contact_blocks,
    fluid_blocks,
    inner_blocks,
    sensor_blocks,
)


def rows_of(blocks: Sequence[Block]) -> Any:
    """Where blocks of fixed size begin in `StateArrays.method`, as attributes that kernels read by name."""
    starts = np.cumsum([0, *[block.rows for block in blocks]]).tolist()
    return places(**dict(zip([block.name for block in blocks], starts, strict=False)))


class Layout:
    """Which rows of the state are which block: those of the system, then those of each method that was in use.

    A method's blocks are called "method.block", and stay while another is in use.
    """

    def __init__(self, counts: Counts, methods: Sequence[Any] = ()):
        self.methods = tuple(methods)  # classes of their options, in the order of their first use
        blocks = [block for contributor in CONTRIBUTORS for block in contributor(counts)]
        own = [(f"{method.name}.", block) for method in self.methods for block in method.state_blocks(counts)]
        self.blocks: dict[str, Block] = {}
        self.rows: dict[str, slice] = {}
        self.size = 0
        for prefix, block in [*[("", block) for block in blocks], *own]:
            name = prefix + block.name
            self.blocks[name] = block
            self.rows[name] = slice(self.size, self.size + block.rows)
            self.size += block.rows

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and (self.rows, self.methods) == (other.rows, other.methods)

    __hash__ = None  # type: ignore[assignment]

    def of(self, method: Any) -> list[str]:
        """Names of a method's blocks."""
        return [name for name in self.rows if name.startswith(f"{method.name}.")]


REPORT_ROWS = 21


def work_shapes(n: Counts) -> dict[str, int]:
    """Parts of each work array."""
    per_body = ("p_WB", "q_WB", "twist", "I_W", "r", "bias", "a_WB", "wrench", "acceleration", "change", "pA")
    kept = ("kept", "twist_end", "twist_pseudo", "moved", "pull", "pull_rate")
    per_dof = ("S", "tau", "U", "D_inv", "u", "qdd", "v_old", "v_pseudo", "shift", "lag_q", "lag_v")
    per_row = (
        "row_kind",
        "row_part",
        "row_group",
        "row_bound_of",
        "row_weight",
        "active",
        "row_bias",
        "row_softness",
        "row_low",
        "row_high",
        "row_error",
        "row_mass",
        "row_pseudo",
        "row_torque",
        "stretch_due",
        "stretch_still",
        "row_size",
        "row_strength",
        "row_late",
        "strike",
        "feedback",
        "push",
        "solved",
        "at_rest",
    )
    watched = ("watch_start", "watch_end", "watch_try", "crossing")
    return (
        dict.fromkeys((*per_body, *kept), n.bodies)
        | dict.fromkeys(("IA_ww", "IA_wv", "IA_vv", "I_inv", "p_from", "q_from"), n.bodies)
        | dict.fromkeys(("p_WF", "q_WF", "p_WM", "q_WM"), n.joints - n.bodies)
        | dict.fromkeys(("A_ww", "A_wv", "A_vv"), n.bodies if n.pieces else 0)
        | dict.fromkeys(("wet_volume", "wet_moment", "wet_slope"), n.pieces)
        | dict.fromkeys(per_dof, n.dofs)
        | dict.fromkeys(per_row, n.rows)
        | dict.fromkeys(watched, n.rows + 2 * n.pieces)
        | {"wet_under": 2 * n.pieces}
        | dict.fromkeys(("pair_first", "pair_second", "pair_turn", "pair_slide", "pair_point"), n.rows - n.slots)
        | {"row_count": 1, "listed": 1, "rows_missing": 1, "row_trees": 4 * n.rows, "row_start": n.rows + 1}
        | {"carried": 2 * n.bodies, "spun": n.bodies, "J": n.row_entries, "Y": n.row_entries}
        | {"block": 6 * n.slots, "block_rhs": 6, "reaction": n.joints, "transmitted": n.bodies, "own_torque": n.bodies}
        | {
            "factor": n.envelope,
            "geometry": n.envelope,
            "rhs": n.bilaterals,
            "multiplier": n.solvables,
            "gram": n.bilaterals**2 if n.spares else 0,
        }
        | {"frozen": 2 * n.row_entries + n.envelope if n.solvables > n.bilaterals else 0}
        | {"newton": 0, "newton_step": 0}  # see `make_room`
        | {"loop_start": n.loop_freedoms, "hand_off": n.turns, "hand_spin": n.turns}
        | {"q_start": n.coordinates, "v_start": n.dofs, "inner_start": n.inner, "inner_rate": n.inner}
        | {"k_inner": (STAGES + 1) * n.inner}
        | {"k_q": (STAGES + 1) * n.coordinates, "k_v": (STAGES + 1) * n.dofs}
        | {"k_book": (STAGES + 1) * ledger_size(n.slots, n.loads, n.fluids)}
        | {"sticking": n.frictions, "stick_matrix": n.frictions**2, "stick_rhs": n.frictions}
        | {"lock_matrix": n.modal**2, "lock_factor": n.modal**2, "lock_share": n.modal * n.bilaterals}
        | {"lock_couple": n.modal * n.bilaterals}
        | dict.fromkeys(("locked", "lock_rhs", "lock_force", "lock_step"), n.modal)
        | {"lock_count": 1, "lock_column": n.bilaterals if n.modal else 0}
        | {"trace": 0, "energy": 3, "report": REPORT_ROWS}
    )


def allocate_work(n: Counts, device: str) -> WorkArrays:
    """Zeroed work arrays."""
    work = WorkArrays()
    for name, parts in work_shapes(n).items():
        dtype = WorkArrays.vars[name].type.dtype  # type: ignore[attr-defined]
        setattr(work, name, wp.zeros((parts, n.worlds), dtype=dtype, device=device))
    keep_owed(work)
    return work


def make_room(work: WorkArrays, n: Counts, unknowns: int, device: str) -> None:
    """Room for a method that solves for so many unknowns at once."""
    work.newton = wp.zeros((unknowns**2, n.worlds), dtype=f64, device=device)
    work.newton_step = wp.zeros((unknowns, n.worlds), dtype=f64, device=device)


def no_trace(work: WorkArrays) -> bool:
    """Note no ends of sub-steps any more; True if that replaced an array."""
    if not work.trace.shape[0]:
        return False
    work.trace = wp.zeros((0, work.trace.shape[1]), dtype=f64, device=work.trace.device)
    return True


class State:
    """The state of all worlds of a system, as the methods use it that are or were in use: the last one is.

    method: the one in use, the class of its options; methods: those before it.
    touched: somebody was given its arrays, and may have written to them, since a launch set this to False.
    """

    def __init__(self, counts: Counts, device: str, method: Any = None, methods: Sequence[Any] = ()):
        used = [*methods, *([] if method is None or method in methods else [method])]
        self._counts, self._method = counts, method
        self.layout = Layout(counts, used)
        self._array = wp.zeros((self.layout.size, counts.worlds), dtype=f64, device=device)
        self._view = self._array.numpy() if self._array.device.is_cpu else None  # Warp takes 8 us to make one
        self._arrays = StateArrays()
        self.rows = self.layout.rows
        for name, rows in self.rows.items():
            if name in StateArrays.vars:  # type: ignore[attr-defined]
                setattr(self.arrays, name, self._rows(rows))
        self.arrays.impulse = self._rows(slice(self.rows["impulse"].start, self.rows["coming"].stop))
        own = [] if method is None else [self.rows[name] for name in self.layout.of(method)]
        first = own[0].start if own else 0
        self.arrays.method = self._rows(slice(first, own[-1].stop if own else first))
        self.arrays.method_at = wp.array([rows.start - first for rows in own] or [0], dtype=wp.int32, device=device)

    @property
    def array(self) -> wp.array:
        """All of it [row, world]."""
        self.touched = True
        return self._array

    @property
    def arrays(self) -> Any:
        """Its blocks, as kernels are given them."""
        self.touched = True
        return self._arrays

    def _rows(self, rows: slice) -> wp.array:
        if rows.stop > rows.start:
            return self.array[rows.start : rows.stop]
        return wp.zeros((0, self._counts.worlds), f64, device=self.array.device)

    def anew(self, counts: Counts) -> "State":
        """A state of zeros for the same methods in a system of other counts."""
        return State(counts, str(self.array.device), self._method, self.layout.methods)

    def used_by(self, method: Any) -> "State":
        """The same state for a method: this one, or one with the method's own blocks as well."""
        if method is self._method:
            return self
        new = State(self._counts, str(self.array.device), method, self.layout.methods)
        data = new.numpy()
        for name, rows in self.rows.items():
            data[new.rows[name]] = self.numpy()[rows]
        new.put(data)
        return new

    def numpy(self) -> np.ndarray:
        """The whole array on the host [row, world]; on the CPU a view, elsewhere a copy."""
        array = self.array
        return array.numpy() if self._view is None else self._view

    def put(self, data: np.ndarray) -> None:
        """Set the whole array [row, world]."""
        if data is not self._view:
            self.array.assign(data)

    def read(self, name: str) -> np.ndarray:
        """One block [row, world]; on the CPU a view, elsewhere a copy."""
        return self.numpy()[self.rows[name]]

    def view(self, name: str, rows: slice | None = None) -> wp.array:
        """One block for kernels [row, world], or some of its rows."""
        block = self.rows[name]
        if rows is None:
            return self._rows(block)
        return self._rows(slice(block.start + rows.start, block.start + rows.stop))

    def write(self, name: str, values: np.ndarray) -> None:
        """Set one block [row, world]."""
        data = self.numpy()
        data[self.rows[name]] = values
        self.put(data)

    def forget(self, lasts: str) -> None:
        """Set the blocks of methods that last so long to zero."""
        for name, block in self.layout.blocks.items():
            if "." in name and block.lasts == lasts:
                self.write(name, np.zeros((block.rows, self._counts.worlds)))

    def take_over(self, other: "State", lasts: str) -> None:
        """Take the values of blocks of methods that last so long from another state."""
        for name, block in self.layout.blocks.items():
            if "." in name and block.lasts == lasts and name in other.rows:
                self.write(name, other.read(name))

    def hash(self) -> str:
        """Digest of the state's bits, by the names of its blocks; those that are zero may be missing."""
        digest, data = hashlib.blake2b(digest_size=16), self.numpy()
        for name in sorted(self.rows):
            block = data[self.rows[name]]
            if block.any():
                digest.update(name.encode())
                digest.update(np.ascontiguousarray(block).data)
        return digest.hexdigest()
