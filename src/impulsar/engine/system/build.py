"""Model → System: the arrays on a device, and the names that lead back from them."""

import builtins
import itertools
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import warp as wp

from ...author.errors import ModelError
from ...author.materials import materials_in_use
from ...author.model import KINDS, Model
from ...author.parts import PARTS
from ...author.profiles import Scalar, scalar_profiles
from ...author.rotations import conjugate, multiply_all, rotate_all
from ..freedoms import code_coordinates, code_slides, measure_coordinates
from ..options import MOST_OPTIONS
from ..spatial import f64, mat33, quat, vec3
from ..state import Counts
from .arrays import ADD, ELEMENTS, FOLLOW, KEEP, STORE, SystemArrays
from .channels import Channels
from .contacts import MOST_ROWS, contact_room
from .extents import METRES, ROUNDING, bodies_of, characteristic_length, exact_axes, extent
from .fluids import pieces_of
from .motions import motion_of, spins_free
from .numbers import numbers_of
from .rank import WEAK
from .roads import roads_of, tyre_sets
from .sensing import sensor_rows
from .slots import BILATERAL, COUPLING, FRICTION, HAND, IDLE, MODAL, SOFT, Slot, SlotBuilder, SlotKey, joint_blocks
from .tree import GROUND, AnyJoint, JointKey, Tree, armature_of, key_of, scatter, span

WITH_SLOTS = ("coupling", *ELEMENTS)
EMPTY = -2  # body of a hand or load that is not in use
TOPOLOGY_OF_EDITS = ("hand_body", "load_body", "load_in_body", "slot_trees")  # what hands and loads change
ROW_CAPACITY = 2**28  # float64 of J in all worlds: 2 GiB
GRAM_CAPACITY = 2**26  # entries in all worlds beyond which rows are not chosen anew at weak poses
FACTOR_CAPACITY = 2**22  # entries beyond which compliant rows are left out of the direct solve
LISTINGS = itertools.count(2)  # never what work arrays are cleared to, or poisoned with


class System:
    """A model built: arrays on a device, counts, and the index of every name."""

    def __init__(
        self,
        model: Model,
        worlds: int = 1,
        device: str = "cpu",
        coordinates: str = "generalized",
        hands: int = 1,
        loads: int = 0,
        check_meeting: bool = True,
        checked: bool = False,  # the model has been checked: an edit checks what it changes
        extra_rows: int = 0,  # room for rows that come and go
        contacts: int | None = None,  # room for contacts, None: as many as there may well be
        turning: bool = False,  # hands have rows to turn what they hold
    ):
        if not checked:
            model.check(check_meeting)
        self.built = model  # what there are arrays for
        self.model = model  # as it is now: an edit of a parameter puts another one here and writes the arrays
        self.each: tuple[Model, ...] = ()  # of worlds that were built of models of their own: see world/stack.py
        self.device = device
        self.coordinates = coordinates
        self.tree = span(model) if coordinates == "generalized" else scatter(model, coordinates == "apart")
        self.body_index = {name: i for i, name in enumerate(self.tree.bodies)}
        self.joints: list[AnyJoint] = [*self.tree.carriers, *self.tree.loops]
        self.joint_index = {key_of(joint): i for i, joint in enumerate(self.joints)}
        self.material_index = {name: i for i, name in enumerate(materials_in_use(model))}
        self.arrays: Any = self._blank()
        self._worlds = worlds
        self._bases: dict[str, wp.array] = {}  # what stride-0 views look at
        self.targets: dict[str, Any] = {}  # what paths of parameters lead to; see edits/parameters.py
        self.locked_motors: dict[int, str] = {}  # by slot, what holds its joint: see engine/start/locked.py
        self._couplings = list(model.couplings.values())
        self.pieces = pieces_of(model, self.tree.bodies)
        carriers = [name for name, body in model.bodies.items() if body.is_carrier]
        self.no_momenta = {*self.pieces.moved, *self.tree.armatured, *carriers}  # whose inertia is not theirs alone

        self.length = characteristic_length(model)
        self.size = extent(model) + self.length
        self.redundancy = 0.0  # by which rows were left out; see engine/start/redundancy.py
        self._number_freedoms()
        turns = hands if turning else 0
        channels = self._make_slots(hands, turns, loads)
        self._place_rows()
        self.asked = contacts
        self.counts = self._count(hands, turns, len(channels), extra_rows, contact_room(model, contacts))
        self._write(channels)

    @cached_property
    def slot_keys(self) -> tuple[SlotKey, ...]:
        """Part, kind and code of every slot, by which files tell them apart."""
        return tuple(slot.key for slot in self.slots)

    def _make_slots(self, hands: int, turns: int, loads: int) -> list[Scalar]:
        """Slots of the rows in their order, with room for hands and loads; returns what their channels follow."""
        builder = SlotBuilder(self.joint_index, self.coordinate, self.dof)
        builder.add_all(self.model, self.tree.loops, WITH_SLOTS, hands, turns)
        self.slots: list[Slot] = builder.slots
        self._ranges = builder.ranges
        self.load_names: list[str | None] = [*self.model.loads, *[None] * loads]
        channels: list[Scalar] = builder.channels
        self._fluid_channel = len(channels)
        for fluid in self.model.fluids.values():
            channels += scalar_profiles(fluid.current, 3)
        self._hand_channel = len(channels)
        channels += [0.0] * (3 * hands)
        self._turn_channel = len(channels)
        channels += [0.0] * (3 * turns)
        self._load_channel = len(channels)
        for load in self.model.loads.values():
            channels += [*scalar_profiles(load.force, 3), *scalar_profiles(load.torque, 3)]
        return channels + [0.0] * (6 * loads)

    def _count(self, hands: int, turns: int, channels: int, extra: int, contacts: int) -> Counts:
        """How many there are of everything."""
        extra_rows = extra + MOST_ROWS * contacts
        counts = Counts(
            bodies=len(self.tree.bodies),
            joints=len(self.joints),
            dofs=self._dofs,
            coordinates=self._coordinates,
            loop_freedoms=len(self._loop_freedoms),
            slots=len(self.slots),
            rows=len(self.slots) + extra_rows,
            row_entries=self._slot_row[-1] + extra_rows * sum(sorted(np.diff(self._tree_dof).tolist())[-2:]),
            bilaterals=len(self._bilateral),
            solvables=len(self._solvable),
            spares=0,
            envelope=self._envelope_row[-1],
            frictions=sum(slot.kind == FRICTION for slot in self.slots) + extra,
            modal=sum(slot.kind in MODAL for slot in self.slots),
            contacts=contacts,
            springs=len(self.model.springs),
            hands=hands,
            turns=turns,
            loads=len(self.load_names),
            inner=2 * len(self.model.tyres),
            channels=channels,
            worlds=self._worlds,
            fluids=len(self.model.fluids),
            pieces=len(self.pieces.ints),
            sensing=sensor_rows(self.model)[1],
        )
        if counts.row_entries * counts.worlds > ROW_CAPACITY:
            raise ModelError(
                f"model '{self.model.name}': {counts.slots} rows over {counts.dofs} freedoms in {counts.worlds} worlds "
                "do not fit the row store; leave out features of joints or take fewer worlds"
            )
        return counts

    def _write(self, channels: list[Scalar]) -> None:
        """Fill the arrays."""
        self._write_tree()
        self._write_bodies()
        self._write_joints()
        self._write_slots()
        self._write_couplings()
        self._write_elements()
        self._write_numbers()
        self._write_fluids()
        self._write_hands(self._hand_channel)
        self._write_loads(self._load_channel)
        self._write_tyres()
        self.channels = Channels(channels, self._worlds, self.device, self.channel_owner)
        self._write_control()

    def _blank(self) -> Any:
        return SystemArrays()

    def _write_control(self) -> None:
        """What channels follow, and what methods fill."""
        device = self.device
        self.channels.write(self.arrays)
        for name in ("steps", "live_slots", "listing", "spares"):
            setattr(self.arrays, name, wp.zeros(1, dtype=wp.int32, device=device))
        for name, size in (("h", 1), ("nominal_h", 1), ("tableau", 1), ("options", MOST_OPTIONS)):
            setattr(self.arrays, name, wp.zeros(size, dtype=f64, device=device))  # methods fill them
        self.count_live_slots()
        self.arrays.contacts_act = wp.zeros(0, dtype=wp.int32, device=device)

    def _number_freedoms(self) -> None:
        """Where each freedom's velocity and coordinate are; tree joints in q, v, loops in loop_q."""
        self.coordinate: dict[tuple[JointKey, int], int] = {}
        self.dof: dict[tuple[JointKey, int], int] = {}
        self._dofs = self._coordinates = 0
        self._dof_start, self._coordinate_start, self._dof_kind = [0], [0], []
        for joint in self.tree.carriers:
            key = key_of(joint)
            for code in joint.kind.freedoms:
                self.dof[key, code] = self._dofs
                self.coordinate[key, code] = self._coordinates
                self._dof_kind.append(code)
                self._dofs += 1
                self._coordinates += code_coordinates(code)
            self._dof_start.append(self._dofs)
            self._coordinate_start.append(self._coordinates)
        self._loop_freedoms: list[tuple[str, int]] = []
        for loop in self.tree.loops:
            for code in loop.kind.freedoms:
                self.coordinate[loop.name, code] = -1 - len(self._loop_freedoms)
                self._loop_freedoms.append((loop.name, code))

    def range(self, name: str) -> builtins.range:
        """Slots of one range: "closure", "feature" (of joints), "coupling", "spring", "hand" or "turn" (of hands)."""
        return self._ranges[name]

    def hand_slots(self, hand: int) -> slice:
        """The three slots by which a hand pulls."""
        first = self.range("hand").start + 3 * hand
        return slice(first, first + 3)

    def turn_slots(self, hand: int) -> slice:
        """The three by which it turns, none where there is no room for them."""
        return slice(first := self.range("turn").start + 3 * hand, min(first + 3, self.range("turn").stop))

    def count_live_slots(self) -> None:
        """Tell the kernels whether there are rows to look for; to be called when a hand takes or lets go."""
        empty = sum(name is None for name in self.hand_names)
        self.arrays.live_slots.fill_(self.counts.slots - (6 if self.counts.turns else 3) * empty)
        self.arrays.listing.fill_(next(LISTINGS))

    def _place_rows(self) -> None:
        """Which trees each slot's row touches, and where in J and Y it is kept."""
        self._tree_of: list[int] = []
        self._tree_body: list[int] = []
        for i, parent in enumerate(self.tree.parents):
            if parent < 0:
                self._tree_body.append(i)
            self._tree_of.append(len(self._tree_body) - 1)
        self._tree_body.append(len(self._tree_of))
        self._tree_dof = [self._dof_start[body] for body in self._tree_body]
        sizes = np.diff(self._tree_dof).tolist()
        largest = max(sizes, default=0)  # a hand may take any body: room for the largest tree
        touched_by: dict[tuple[str, int], tuple[list[int], int]] = {}  # slots of one part touch the same trees
        self._slot_trees: list[list[int]] = []
        lengths: list[int] = []
        for slot in self.slots:
            part = slot.owner, slot.part
            if part not in touched_by:
                touched = sorted({self._tree_of[b] for b in self._slot_bodies(slot)})
                touched_by[part] = touched, largest if slot.kind == HAND else sum(sizes[tree] for tree in touched)
            touched, length = touched_by[part]
            self._slot_trees.append(touched)
            lengths.append(length)
        self._slot_row = [0, *np.cumsum(lengths, dtype=int).tolist()]

        self._order_bilateral()

    def _order_bilateral(self) -> None:
        """The rows of a direct solve, and which of them may respond to each other."""
        # in the order of the trees, so that the factor of a chain of free bodies has a narrow band
        self._bilateral = sorted(
            (r for r, slot in enumerate(self.slots) if slot.kind in BILATERAL),
            key=lambda r: (self._slot_trees[r][-1] if self._slot_trees[r] else 0, r),
        )
        self._envelope_start, self._envelope_row = [], [0]
        first: dict[int, int] = {}  # tree -> first bilateral row that touches it
        soft = [r for r, slot in enumerate(self.slots) if slot.kind in SOFT]
        self._solvable = [*self._bilateral, *soft]
        for b, r in enumerate(self._solvable):
            start = b
            for tree in self._slot_trees[r]:
                start = min(start, first.setdefault(tree, b))
            if self.slots[r].kind == HAND:  # it may take any body
                start = 0
            self._envelope_start.append(start)
            self._envelope_row.append(self._envelope_row[-1] + b - start + 1)
        if soft and self._envelope_row[-1] > FACTOR_CAPACITY:
            n = len(self._bilateral)
            del self._solvable[n:], self._envelope_start[n:], self._envelope_row[n + 1 :]

    def drop_rows(self, idle: Sequence[int]) -> None:
        """Take locks that the tree satisfies by itself out of the rows."""
        if not len(idle):
            return
        for r in idle:
            self.slots[r].kind = IDLE
        self._order_bilateral()
        self._fixed(
            slot_kind=[slot.kind for slot in self.slots],
            slot_block=joint_blocks(self.slots),
            bilateral=self._bilateral,
            solvable=self._solvable,
            envelope_start=self._envelope_start,
            envelope_row=self._envelope_row,
        )

    def scaled_rows(self, J: np.ndarray, slots: Sequence[int]) -> np.ndarray:
        """Dense rows of some slots in rad and sizes, as engine/system/rank.py takes them."""
        row, dof = self.arrays.slot_weight.numpy()[slots], self.arrays.dof_weight.numpy()
        return np.sqrt(row)[:, None] * J * np.sqrt(dof)

    def spare_rows(self, basis: np.ndarray, rank: np.ndarray, slack: np.ndarray) -> None:
        """Say which closures and couplings hold the mechanism [slot, 1 or world], and how many there are [1 or world].

        The others are spare: a method may leave them out, or choose among all by their strength at a pose. slack is
        the error that this may mean for those that hold it [1 or world].
        """
        self.replace_parameter("slack", np.reshape(slack, (1, -1)))
        self.replace_parameter("basis", basis.astype(float))
        self.replace_parameter("rank", np.reshape(rank, (1, -1)).astype(float))
        n = len(self._bilateral)
        fits = n * n * self._worlds <= GRAM_CAPACITY
        self.counts = replace(self.counts, bilaterals=n, spares=int(fits and not basis[self._bilateral].all()))

    def _slot_bodies(self, slot: Slot) -> list[int]:
        """The bodies that a slot's row touches; of a hand none until it holds one."""
        if slot.kind == HAND:
            return []
        if slot.owner == "joint":
            names = [self.joints[slot.part].first, self.joints[slot.part].second]
        else:
            names = bodies_of(self.model, slot.owner, slot.name)
        return [self.body_index[name] for name in names if name != GROUND]

    def dense_rows(self, entries: np.ndarray, worlds: Sequence[int] | None = None) -> np.ndarray:
        """J or Y of the first world [slot, dof], or of some [world, slot, dof], from the packed entries."""
        chosen = [0] if worlds is None else list(worlds)
        dense = np.zeros((len(chosen), len(self.slots), self._dofs))
        for r, touched in enumerate(self.arrays.slot_trees.numpy()):
            at = self._slot_row[r]
            for tree in self._slot_trees[r] if touched[3] < -1 else touched[touched >= 0]:
                dofs = slice(self._tree_dof[tree], self._tree_dof[tree + 1])
                size = dofs.stop - dofs.start
                dense[:, r, dofs] = entries[at : at + size, chosen].T
                at += size
        return dense[0] if worlds is None else dense

    # arrays ---------------------------------------------------------------------------------------

    def _fixed(self, **values: object) -> None:
        """Topology: one value per part."""
        for name, value in values.items():
            array = np.array(value, np.int32)
            setattr(self.arrays, name, self._array(array, wp.int32, array.shape))

    def _shared(self, dtype: type, **values: object) -> None:
        """Parameters: one value per part, seen by all worlds through stride 0."""
        for name, value in values.items():
            shape = {f64: (), vec3: (3,), quat: (4,), mat33: (3, 3)}[dtype]
            data = np.array(value, float).reshape(-1, 1, *shape)
            self._set_base(name, self._array(data, dtype, data.shape[:2]))

    def _absent(self, dtype: type, **values: object) -> None:
        """Of parts that a model has none of: no parameters, which hashes of worlds would have."""
        for name in values:
            setattr(self.arrays, name, wp.empty((0, self._worlds), dtype=dtype, device=self.device))

    def _array(self, data: np.ndarray, dtype: type, shape: tuple[int, ...]) -> wp.array:
        """An array on the device; on the CPU it takes the data over, which is four times as fast as a copy."""
        return wp.array(data, dtype=dtype, device=self.device, shape=shape, copy=self.device != "cpu" or not data.size)

    def _set_base(self, name: str, base: wp.array) -> None:
        """Put an array [part, 1 or world] where the kernels see [part, world]."""
        self._bases[name] = base
        view = base
        if base.shape[1] == 1 and self._worlds > 1:
            shape, strides = (base.shape[0], self._worlds), (base.strides[0], 0)
            view = wp.array(
                ptr=base.ptr, dtype=base.dtype, shape=shape, strides=strides, device=self.device, capacity=base.capacity
            )
        setattr(self.arrays, name, view)

    @property
    def parameters(self) -> list[str]:
        """Names of the parameter arrays."""
        return list(self._bases)

    def replace_parameter(self, name: str, values: np.ndarray) -> None:
        """Put back a parameter array [part, 1 or world, ...]."""
        base = self._bases[name]
        if base.shape[:2] == values.shape[:2]:
            if base.device.is_cpu:
                base.numpy()[...] = values
            else:
                base.assign(values)
        else:
            self._set_base(name, wp.array(values, dtype=base.dtype, device=self.device, shape=values.shape[:2]))

    def parameter(self, name: str) -> np.ndarray:
        """Values of a parameter array [part, 1 or world, ...] on the host, a copy."""
        return self._bases[name].numpy().copy()

    def topology(self, name: str) -> np.ndarray:
        """Values of one of TOPOLOGY_OF_EDITS on the host, a copy."""
        return getattr(self.arrays, name).numpy().copy()

    def width(self, name: str) -> tuple[int, ...]:
        """Shape of one value of a parameter array."""
        return self._bases[name].numpy().shape[2:]

    def set_parameter(self, name: str, part: int, values: np.ndarray | float) -> bool:
        """Write one part's value, or one per world. True: the kernels' arrays were replaced."""
        base = self._bases[name]
        data = base.numpy()  # on the CPU a view
        per_world = np.ndim(values) > data.ndim - 2
        if per_world and data.shape[1] == 1 and self._worlds > 1:
            data = np.repeat(data, self._worlds, axis=1)
            data[part] = values
            self._set_base(name, wp.array(data, dtype=base.dtype, device=self.device, shape=data.shape[:2]))
            return True
        data[part] = values
        if not base.device.is_cpu:
            base.assign(data)
        return False

    def index_of(self, kind: str) -> dict[str, int]:
        """Rows of a kind's parts in the arrays that have one for each, by name."""
        if kind == "load":
            return {name: k for k, name in enumerate(self.load_names) if name is not None}
        return self._indices[kind]

    @cached_property
    def _indices(self) -> dict[str, dict[str, int]]:
        order = {kind: {name: i for i, name in enumerate(getattr(self.built, where))} for kind, where in KINDS.items()}
        return order | {"body": self.body_index, "joint": self.joint_index, "material": self.material_index}

    @cached_property
    def slots_of(self) -> dict[str, list[int]]:
        """Slots of each part by name, without the hands'."""
        found: dict[str, list[int]] = {}
        for r, slot in enumerate(self.slots):
            if slot.kind != HAND:
                found.setdefault(slot.name, []).append(r)
        return found

    def channel_owner(self, channel: int) -> str:
        """What an input channel is of, in words."""
        if channel >= self._load_channel:
            load, k = divmod(channel - self._load_channel, 6)
            return f"load '{self.load_names[load]}' {'force' if k < 3 else 'torque'}"
        if channel >= self._turn_channel:
            return f"turn of hand '{self.hand_names[(channel - self._turn_channel) // 3]}'"
        if channel >= self._hand_channel:
            return f"hand '{self.hand_names[(channel - self._hand_channel) // 3]}'"
        if channel >= self._fluid_channel:
            return f"fluid '{[*self.built.fluids][(channel - self._fluid_channel) // 3]}' current"
        return f"motor of joint '{next(slot.name for slot in self.slots if slot.channel == channel)}'"

    def _write_tree(self) -> None:
        parents = self.tree.parents
        n = len(parents)
        children: dict[int, list[int]] = {}
        for i, parent in enumerate(parents):
            children.setdefault(parent, []).append(i)
        over, gathers = [KEEP] * n, [0] * n
        for parent, own in children.items():
            if parent >= 0:
                apart = [i for i in own if i != parent + 1]
                gathers[parent] = int(bool(apart))
                for i in own:
                    over[i] = FOLLOW if i == parent + 1 else STORE if i == apart[-1] else ADD
        spins = spins_free(self.tree, self.no_momenta)
        held = {name for joint in self.tree.loops for name in (joint.first, joint.second)}
        self._fixed(
            parent=parents,
            dof_start=self._dof_start,
            coordinate_start=self._coordinate_start,
            dof_kind=self._dof_kind,
            hand_over=over,
            gathers=gathers,
            tree_of=self._tree_of,
            tree_body=self._tree_body,
            tree_dof=self._tree_dof,
            spins_free=spins,
            tree_motion=[
                motion_of(self.tree, range(start, end), bool(spins[start]), held, self.no_momenta)
                for start, end in itertools.pairwise(self._tree_body)
            ],
        )

    def _write_bodies(self) -> None:
        bodies = [self.model.bodies[name] for name in self.tree.bodies]
        self._shared(f64, mass=[body.mass for body in bodies])
        self._shared(mat33, inertia=[body.inertia for body in bodies])
        self._shared(vec3, gravity=[self.model.gravity])
        armature = [armature_of(joint, code) for joint in self.tree.carriers for code in joint.kind.freedoms]
        (self._shared if self.tree.armatured else self._absent)(f64, armature=armature)

    @property
    def bare_arrays(self) -> Any:
        """The arrays without armature: with inertia as a metric of how the bodies move, and of nothing else."""
        if not self.tree.armatured:
            return self.arrays
        bare = SystemArrays()
        for name in SystemArrays.vars:  # type: ignore[attr-defined]
            setattr(bare, name, getattr(self.arrays, name))
        bare.armature = wp.empty((0, self._worlds), dtype=f64, device=self.device)
        return bare

    def _body(self, name: str) -> int:
        return -1 if name == GROUND else self.body_index[name]

    def _write_joints(self) -> None:
        joints = self.joints
        self._fixed(
            first=[self._body(joint.first) for joint in joints],
            second=[self._body(joint.second) for joint in joints],
            loop_joint=[self.joint_index[name] for name, _ in self._loop_freedoms],
            loop_code=[code for _, code in self._loop_freedoms],
        )
        p_PF, q_PF, p_CM, q_CM = (
            np.reshape([getattr(joint, name) for joint in joints], (len(joints), size))
            for name, size in (("p_PF", 3), ("q_PF", 4), ("p_CM", 3), ("q_CM", 4))
        )
        self._shared(vec3, p_PF=p_PF, p_CM=p_CM)
        self._shared(quat, q_PF=q_PF, q_CM=q_CM)
        self._shared(mat33, R_PF=exact_axes(q_PF), R_CM=exact_axes(q_CM))
        self._shared(quat, q_zero=self.zero_orientations(q_PF, q_CM))
        self._shared(f64, pitch=[joint.pitch or 0.0 for joint in joints])
        self._shared(f64, length=[joint.length or 0.0 for joint in joints])

    def zero_orientations(self, q_PF: np.ndarray, q_CM: np.ndarray) -> np.ndarray:
        """Orientation of every body in its parent at zero coordinates, from joint frames [joint, ..., 4]."""
        n = len(self.tree.bodies)
        q = multiply_all(q_PF[:n], conjugate(q_CM[:n]))
        backward = [joint.second != name for joint, name in zip(self.tree.carriers, self.tree.bodies, strict=True)]
        q[backward] = conjugate(q[backward])
        q[np.abs(q) < ROUNDING] = 0.0
        return q / np.linalg.norm(q, axis=-1, keepdims=True)

    def _write_slots(self) -> None:
        slots = self.slots
        more: list[int] = []
        trees = [listed_trees(touched, more) for touched in self._slot_trees]
        self._fixed(
            slot_kind=[slot.kind for slot in slots],
            slot_part=[slot.part for slot in slots],
            slot_code=[slot.code for slot in slots],
            slot_q=[slot.q for slot in slots],
            slot_dof=[slot.dof for slot in slots],
            slot_trees=np.reshape(trees, (-1, 4)),
            more_trees=more,
            slot_row=self._slot_row,
            slot_group=[slot.group for slot in slots],
            slot_block=joint_blocks(slots),
            bilateral=self._bilateral,
            solvable=self._solvable,
            envelope_start=self._envelope_start,
            envelope_row=self._envelope_row,
            slot_channel=[slot.channel for slot in slots],
        )
        largest = 1e300  # stands for no bound
        self._shared(f64, slot_a=[min(slot.a, largest) for slot in slots], slot_b=[slot.b for slot in slots])
        self._shared(f64, slot_c=[slot.c for slot in slots], slot_d=[slot.d for slot in slots])
        self._shared(f64, basis=np.ones(len(slots)), rank=[len(self._bilateral)], slack=[0.0], weak=[WEAK])
        in_metres = [(slot.kind != COUPLING and slot.code in METRES) or self._couples_slides(slot) for slot in slots]
        slides = [code_slides(code) for code in self._dof_kind]
        in_slides = np.zeros(self._coordinates, np.int32)
        in_slides[[c for (_, code), c in self.coordinate.items() if code_slides(code) and c >= 0]] = 1
        self._fixed(coordinate_slides=in_slides)
        for name, weight in (
            ("home", self.start_coordinates()),
            ("size", np.array([self.size])),
            ("slot_weight", np.where(in_metres, self.size**-2, 1.0)),
            ("dof_weight", np.where(slides, self.size**2, 1.0)),
        ):
            setattr(self.arrays, name, self._array(weight, f64, weight.shape))

    def _couples_slides(self, slot: Slot) -> bool:
        if slot.kind != COUPLING:
            return False
        coupling = self._couplings[slot.part]
        return self.model.joints[coupling.joint_b].kind.group(coupling.group_b).is_slide

    def _write_couplings(self) -> None:
        freedom = {
            (joint.name, group.name): group.freedoms[0]
            for joint in self.model.joints.values()
            for group in joint.kind.groups
        }
        every = [[(joint, freedom[joint, group]) for joint, group, _ in c.ends] for c in self._couplings]
        for name, ends, shape in (
            ("coupled", [end for own in every for end in own[:2]], (-1, 2)),
            ("more", [end for own in every for end in own[2:]], (-1,)),
        ):
            columns = {
                f"{name}_joint": [self.joint_index[joint] for joint, _ in ends],
                f"{name}_code": [code for _, code in ends],
                f"{name}_q": [self.coordinate[end] for end in ends],
                f"{name}_dof": [self.dof.get(end, -1) for end in ends],
            }
            self._fixed(**{column: np.reshape(values, shape) for column, values in columns.items()})
        starts = np.cumsum([0, *(len(coupling.more) for coupling in self._couplings)])
        self.more_row = {c.name: int(first) for c, first in zip(self._couplings, starts[:-1], strict=True)}
        self._fixed(more_start=starts)
        weights = [weight for coupling in self._couplings for weight in coupling.more.values()]
        (self._shared if weights else self._absent)(f64, more_weight=weights)

    def _write_elements(self) -> None:
        """Bodies, points and numbers of springs and what else acts between bodies."""
        for kind in ELEMENTS:
            parts, entry = list(getattr(self.model, PARTS[kind].plural).values()), PARTS[kind]
            for field in entry.refers:
                self._fixed(**{f"{kind}_{field}": [self._body(getattr(part, field)) for part in parts]})
            write = self._shared if parts or kind == "spring" else self._absent
            for point in entry.points:
                write(vec3, **{point.array: [getattr(part, point.field) for part in parts]})
            for own in entry.parameters:
                if not own.slots:
                    write(f64, **{own.array: [getattr(part, own.name) for part in parts]})

    def _write_numbers(self) -> None:
        """Numbers of materials and their pairs."""
        for array, values in numbers_of(self.model).items():
            (self._shared if values else self._absent)(f64, **{array: values})

    def _write_fluids(self) -> None:
        """Currents of the fluids, and the pieces of bodies in them."""
        first, pieces = self._fluid_channel, self.pieces
        self._fixed(fluid_channel=[first + 3 * k for k in range(self.counts.fluids)], wet_start=pieces.start)
        self._fixed(wet_int=pieces.ints)
        self.arrays.wet = self._array(pieces.numbers, f64, pieces.numbers.shape)
        self.arrays.wet_corner = self._array(pieces.corners, vec3, pieces.corners.shape[:1])

    def _write_hands(self, channel: int) -> None:
        n = self.counts.hands
        self.hand_names: list[str | None] = [None] * n
        turns = [self._turn_channel + 3 * k for k in range(self.counts.turns)]
        self._fixed(hand_body=[EMPTY] * n, hand_channel=[channel + 3 * k for k in range(n)], turn_channel=turns)
        self._shared(vec3, hand_point=np.zeros((n, 3)))

    def _write_loads(self, channel: int) -> None:
        loads = list(self.model.loads.values())
        spare = self.counts.loads - len(loads)
        self._fixed(
            load_body=[self.body_index[load.body] for load in loads] + [EMPTY] * spare,
            load_in_body=[int(load.frame == "body") for load in loads] + [0] * spare,
            load_channel=[channel + 6 * k for k in range(len(loads) + spare)],
        )
        self._shared(vec3, load_point=[*[load.p_BQ for load in loads], *[np.zeros(3)] * spare])

    def _write_tyres(self) -> None:
        self.arrays.tyre_set = tyre_sets(self.model, self.device)
        self.arrays.roads, materials = roads_of(self.model, self.material_index, self.device)
        self._fixed(road_material=materials)

    # start ----------------------------------------------------------------------------------------

    def start_coordinates(self) -> np.ndarray:
        """Tree coordinates at the authored pose: zero where the joint's frames coincide."""
        bodies = {GROUND: self.model.ground, **self.model.bodies}
        if not (joints := self.tree.carriers):
            return np.zeros(0)
        ends = [(bodies[joint.first], bodies[joint.second]) for joint in joints]
        p_P, q_P = (np.array([getattr(first, name) for first, _ in ends]) for name in ("position", "orientation"))
        p_C, q_C = (np.array([getattr(second, name) for _, second in ends]) for name in ("position", "orientation"))
        p_PF, q_PF, p_CM, q_CM = (
            np.array([getattr(joint, name) for joint in joints]) for name in ("p_PF", "q_PF", "p_CM", "q_CM")
        )
        q_FW = multiply_all(q_P, q_PF) * (-1.0, -1.0, -1.0, 1.0)
        p_FM = rotate_all(q_FW, p_C + rotate_all(q_C, p_CM) - (p_P + rotate_all(q_P, p_PF)))
        q_FM = multiply_all(q_FW, multiply_all(q_C, q_CM))
        freedoms = [(i, code) for i, joint in enumerate(joints) for code in joint.kind.freedoms]
        q = np.zeros(self._coordinates)
        for (i, code), value in zip(freedoms, measure_coordinates(freedoms, p_FM[:, None], q_FM[:, None]), strict=True):
            size, at = code_coordinates(code), self.coordinate[key_of(joints[i]), code]
            q[at : at + size] = value if size == 1 else q_FM[i, :size]
        return q


def listed_trees(touched: list[int], more: list[int]) -> list[int]:
    """The four numbers of `slot_trees`; what does not fit is put behind `more`."""
    if len(touched) <= 4:
        return [*touched, -1, -1, -1, -1][:4]
    more += [*touched[3:], -1]
    return [*touched[:3], -2 - (len(more) - len(touched) + 2)]


__all__ = ["EMPTY", "System", "Tree"]
