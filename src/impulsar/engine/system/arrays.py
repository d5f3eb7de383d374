"""The arrays of a system, as the kernels see them.

Bodies are numbered so that a parent comes before its children and a chain is contiguous; body i hangs
on joint i, and joints that close loops follow. Topology is [part]; parameters are [part, world], with
world stride 0 where all worlds share one value.
"""

import warp as wp

from ...author.parts import PARTS
from ..collide.arrays import ShapeArrays
from ..spatial import f64, mat33, quat, vec3
from .numbers import NUMBERED

ELEMENTS = tuple(kind for kind, entry in PARTS.items() if entry.slot >= 0 and "body" in entry.refers.values())

# How a body passes its articulated inertia to its parent (hand_over).
KEEP, FOLLOW, STORE, ADD = 0, 1, 2, 3  # to ground; to the body before it; first of several; more of them

# How a tree moves by inertia in a first-order method (tree_motion, see engine/integrate/inertial.py): a single free
# body, with joints as rows or none; all turning axes parallel; any other, and of these on a ball joint on
# ground, or free. Before them: with added mass or armature, by explicit velocity products.
IMMERSED, HELD, ALONE, LEVEL, JOINED, ON_BALL, WHOLE = -2, -1, 0, 1, 2, 3, 4


def with_elements(cls: type) -> type:
    """A struct that has the arrays of all elements of the table of parts: bodies, points and numbers; and the numbers
    of other parts, 0 x 0 where a model has none."""
    declared = cls.__annotations__
    for kind in ELEMENTS:
        entry = PARTS[kind]
        bodies = {f"{kind}_{field}": wp.array(dtype=wp.int32) for field in entry.refers}
        points = {point.array: wp.array2d(dtype=vec3) for point in entry.points}
        numbers = {own.array: wp.array2d(dtype=f64) for own in entry.parameters if not own.slots}
        declared |= {name: own for name, own in (bodies | points | numbers).items() if name not in declared}
    for kind in NUMBERED:
        declared |= {own.array: wp.array2d(dtype=f64) for own in PARTS[kind].numbers}
    return cls


@wp.struct
@with_elements
class SystemArrays:
    """Everything about a mechanism that a step reads and does not write."""

    # tree
    parent: wp.array(dtype=wp.int32)  # [body] -1: ground
    dof_start: wp.array(dtype=wp.int32)  # [body + 1]
    coordinate_start: wp.array(dtype=wp.int32)  # [body + 1]
    dof_kind: wp.array(dtype=wp.int32)  # [dof] freedom code of author/joints.py
    hand_over: wp.array(dtype=wp.int32)  # [body] how it passes its articulated inertia up
    gathers: wp.array(dtype=wp.int32)  # [body] 1: has children that do not follow it at once
    tree_of: wp.array(dtype=wp.int32)  # [body] which of the trees that stand on ground it belongs to
    tree_body: wp.array(dtype=wp.int32)  # [tree + 1] first body
    tree_dof: wp.array(dtype=wp.int32)  # [tree + 1] first freedom
    spins_free: wp.array(dtype=wp.int32)  # [body] 1: a single free body, which keeps its momentum
    tree_motion: wp.array(dtype=wp.int32)  # [tree] how it moves by inertia
    # bodies [body, world]
    mass: wp.array2d(dtype=f64)  # [kg]
    inertia: wp.array2d(dtype=mat33)  # about the centre of mass, body axes [kg m²]
    gravity: wp.array2d(dtype=vec3)  # [1, world] [m/s²]
    armature: wp.array2d(dtype=f64)  # [dof, world] that moves with the freedom, [0] where there is none [kg, kg m²]
    # joints, tree joints first [joint] and [joint, world]
    first: wp.array(dtype=wp.int32)
    second: wp.array(dtype=wp.int32)
    p_PF: wp.array2d(dtype=vec3)  # frame F in the first body
    q_PF: wp.array2d(dtype=quat)
    p_CM: wp.array2d(dtype=vec3)  # frame M in the second body
    q_CM: wp.array2d(dtype=quat)
    R_PF: wp.array2d(dtype=mat33)  # the same as matrices, with exact zeros and ones
    R_CM: wp.array2d(dtype=mat33)
    q_zero: wp.array2d(dtype=quat)  # [body, world] orientation in the parent at zero coordinates
    pitch: wp.array2d(dtype=f64)  # [m/rad]
    length: wp.array2d(dtype=f64)  # [m]
    # freedoms of loop joints [loop freedom]
    loop_joint: wp.array(dtype=wp.int32)
    loop_code: wp.array(dtype=wp.int32)
    # slots [slot] and [slot, world]
    slot_kind: wp.array(dtype=wp.int32)  # row kind of engine/system/slots.py, see engine/constrain/kinds.py
    slot_part: wp.array(dtype=wp.int32)  # joint, spring, hand or coupling
    slot_code: wp.array(dtype=wp.int32)  # freedom or lock of the joint, component of the hand
    slot_q: wp.array(dtype=wp.int32)  # where its coordinate is: q[i], or loop_q[-1 - i]
    slot_dof: wp.array(dtype=wp.int32)  # tree freedom that it acts on alone, else -1
    slot_trees: wp.array2d(dtype=wp.int32)  # [slot, 4] trees that its row touches, -1: no more; -2 - k: see more_trees
    more_trees: wp.array(dtype=wp.int32)  # from k on, the fourth and further trees of a row that touches five or more
    slot_row: wp.array(dtype=wp.int32)  # [slot + 1] where its row begins in J and Y
    slot_group: wp.array(dtype=wp.int32)  # of rows bounded together: how many at the first, 0 at the others; 1 alone
    slot_block: wp.array(dtype=wp.int32)  # at a joint's first closure the number of them, else 0
    slot_channel: wp.array(dtype=wp.int32)  # input channel of a motor, else -1
    slot_weight: wp.array(dtype=f64)  # of |J|²: 1 / size² where the row is in metres, so that they compare
    coordinate_slides: wp.array(dtype=wp.int32)  # [coordinate] 1: in metres
    home: wp.array(dtype=f64)  # [coordinate] at the authored pose
    size: wp.array(dtype=f64)  # [1] of the mechanism [m]
    dof_weight: wp.array(dtype=f64)  # [dof] of J²: size² where the freedom is a slide
    basis: wp.array2d(dtype=f64)  # 1: of the rows that hold the mechanism, 0: spare, the others imply it
    rank: wp.array2d(dtype=f64)  # [1, world] of the closures and couplings together
    slack: wp.array2d(dtype=f64)  # [1, world] error of the rows kept that leaving out others may mean [rad, lengths]
    weak: wp.array2d(dtype=f64)  # [1, world] strength of the weakest row below which a singular position is near
    spares: wp.array(dtype=wp.int32)  # [1] 1: some rows are spare and the method leaves them out
    slot_a: wp.array2d(dtype=f64)  # parameters of its kind: engine/constrain/ has their names
    slot_b: wp.array2d(dtype=f64)
    slot_c: wp.array2d(dtype=f64)
    slot_d: wp.array2d(dtype=f64)
    # couplings [coupling]: joint and freedom of each side
    coupled_joint: wp.array2d(dtype=wp.int32)  # [coupling, side]
    coupled_code: wp.array2d(dtype=wp.int32)
    coupled_q: wp.array2d(dtype=wp.int32)
    coupled_dof: wp.array2d(dtype=wp.int32)
    # further coordinates of couplings of several joints [term] and [term, world]
    more_start: wp.array(dtype=wp.int32)  # [coupling + 1] first term
    more_joint: wp.array(dtype=wp.int32)
    more_code: wp.array(dtype=wp.int32)
    more_q: wp.array(dtype=wp.int32)
    more_dof: wp.array(dtype=wp.int32)
    more_weight: wp.array2d(dtype=f64)  # unit of b per unit of the term's coordinate
    # springs [spring] and [spring, world]
    spring_first: wp.array(dtype=wp.int32)
    spring_second: wp.array(dtype=wp.int32)
    spring_p_first: wp.array2d(dtype=vec3)
    spring_p_second: wp.array2d(dtype=vec3)
    # hands [hand] and [hand, world]
    hand_body: wp.array(dtype=wp.int32)  # -2: empty
    hand_point: wp.array2d(dtype=vec3)  # on the body, body axes [m]
    hand_channel: wp.array(dtype=wp.int32)  # first of three channels
    turn_channel: wp.array(dtype=wp.int32)  # [hand], or [0]: no hand turns; first of three channels
    # loads [load] and [load, world]
    load_body: wp.array(dtype=wp.int32)  # -2: empty
    load_point: wp.array2d(dtype=vec3)
    load_in_body: wp.array(dtype=wp.int32)  # 1: direction turns with the body
    load_channel: wp.array(dtype=wp.int32)  # first of six channels: force, torque
    # fluids [fluid], and the pieces of bodies that are in them; see engine/system/fluids.py
    fluid_channel: wp.array(dtype=wp.int32)  # first of three channels: current
    wet_start: wp.array(dtype=wp.int32)  # [body + 1] first piece, [0] where there are none
    wet_int: wp.array2d(dtype=wp.int32)  # [piece, WetInt]
    wet: wp.array2d(dtype=f64)  # [piece, Wet]
    wet_corner: wp.array(dtype=vec3)  # [3 · face] in the piece's frame [m]
    # tyres: their bodies, points and numbers come by the table of parts
    tyre_set: wp.array2d(dtype=f64)  # [tyre, column] law and coefficients, see engine/system/roads.py
    roads: ShapeArrays  # [road] what they roll on, in the world
    road_material: wp.array(dtype=wp.int32)  # [road] -1: none
    # input channels [channel] and [channel, world]
    channel_kind: wp.array(dtype=wp.int32)
    channel_a: wp.array2d(dtype=f64)
    channel_b: wp.array2d(dtype=f64)
    channel_c: wp.array2d(dtype=f64)
    channel_d: wp.array2d(dtype=f64)
    table_start: wp.array(dtype=wp.int32)
    table_end: wp.array(dtype=wp.int32)
    table_time: wp.array(dtype=f64)
    table_value: wp.array(dtype=f64)
    # bilateral rows [bilateral]: those a direct solve takes together
    bilateral: wp.array(dtype=wp.int32)  # slot
    solvable: wp.array(dtype=wp.int32)  # [bilateral + soft] the same, then the compliant slots
    envelope_start: wp.array(dtype=wp.int32)  # [bilateral + soft] first row that may respond to this one
    envelope_row: wp.array(dtype=wp.int32)  # [bilateral + soft + 1] where its part of the factor begins
    tableau: wp.array(dtype=f64)  # of the embedded pairs, see engine/integrate/pairs.py
    # control
    h: wp.array(dtype=f64)  # [1] step of an impulsive method [s]
    nominal_h: wp.array(dtype=f64)  # [1] nominal step [s]
    steps: wp.array(dtype=wp.int32)  # [1] steps of a launch
    live_slots: wp.array(dtype=wp.int32)  # [1] slots that can be rows: all but those of empty hands
    listing: wp.array(dtype=wp.int32)  # [1] number of the present slots and hands: no other system has had it
    options: wp.array(dtype=f64)  # of the method
    contacts_act: wp.array(dtype=wp.int32)  # [0], or [1] in readings: forces of the last contacts act at an instant
