"""The tree of a model: which joint carries which body, and which joints are left to rows.

Generalized coordinates take a spanning tree. Maximal coordinates take the forest of single bodies: a
free body is a tree of one, so both are the same arrays and the same verbs. Armature moves with the coordinate of a
joint, a v² / 2 of it, so that a joint that has some is of the tree in both: what it carries is not free. So are the
joints of bodies without mass, which only carry others.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ...author.errors import ModelError
from ...author.joints import CATALOGUE, JointType
from ...author.model import Model
from ...author.parts import Joint

GROUND = "ground"


@dataclass(frozen=True)
class FreeJoint:
    """The joint of a body that hangs on nothing: its coordinates are its pose in the world.

    No author made it, so it has no name: it is its own key in tables of joints, equal to that of the same body.
    """

    body: str

    type: ClassVar[str] = "free"
    kind: ClassVar[JointType] = CATALOGUE["free"]
    first: ClassVar[str] = GROUND
    p_PF: ClassVar[np.ndarray] = np.zeros(3)
    q_PF: ClassVar[np.ndarray] = np.array([0.0, 0.0, 0.0, 1.0])
    p_CM: ClassVar[np.ndarray] = p_PF
    q_CM: ClassVar[np.ndarray] = q_PF
    length: ClassVar[None] = None
    pitch: ClassVar[None] = None

    @property
    def second(self) -> str:
        return self.body


AnyJoint = Joint | FreeJoint
JointKey = str | FreeJoint


def key_of(joint: AnyJoint) -> JointKey:
    """What tables know a joint by: its name, if it has one."""
    return joint if isinstance(joint, FreeJoint) else joint.name


@dataclass
class Tree:
    """Bodies in tree order with the joint that carries each, and the joints left over."""

    bodies: list[str]  # a parent before its children, chains contiguous
    parents: list[int]  # index into bodies, -1: ground
    carriers: list[AnyJoint]  # joint that carries each body
    loops: list[Joint]  # joints that close loops, in the author's order

    @cached_property
    def armatured(self) -> tuple[str, ...]:
        """Bodies whose joint has armature."""
        return tuple(body for body, joint in zip(self.bodies, self.carriers, strict=True) if has_armature(joint))


def has_armature(joint: AnyJoint) -> bool:
    """Whether some freedom of a joint has armature."""
    return not isinstance(joint, FreeJoint) and any(own.armature for own in joint.features.values())


def armature_of(joint: AnyJoint, code: int) -> float:
    """Armature of one freedom of a joint [kg, kg m²]."""
    return 0.0 if isinstance(joint, FreeJoint) else joint.features[joint.group_of(code).name].armature


def stays(model: Model, joint: AnyJoint) -> bool:
    """Whether a joint is of the tree in maximal coordinates, too: it has armature, or a body without mass."""
    ends = (model.bodies.get(name) for name in (joint.first, joint.second))
    return has_armature(joint) or any(body is not None and body.is_carrier for body in ends)


def check_carriers(model: Model, tree: Tree) -> None:
    """Raise `ModelError` at a body without mass that nothing moves: one that hangs on nothing, or carries nothing."""
    carried = [0.0] * len(tree.bodies)
    for i in reversed(range(len(tree.bodies))):
        body = model.bodies[tree.bodies[i]]
        carried[i] += body.mass
        if body.is_carrier and (carried[i] == 0.0 or isinstance(tree.carriers[i], FreeJoint)):
            why = "carries nothing that weighs" if carried[i] == 0.0 else "hangs on nothing"
            raise ModelError(f"body '{body.name}': weighs nothing and {why}; give it mass and inertia")
        if tree.parents[i] >= 0:
            carried[tree.parents[i]] += carried[i]


def span(model: Model) -> Tree:
    """Choose the tree: joints with armature first, then with few freedoms, then in the author's order.

    The fewer freedoms the tree joints have, the fewer rows are left for the loops. A group of bodies
    with no way to ground hangs on a free joint at its first body.
    """
    island = {name: name for name in (GROUND, *model.bodies)}

    def root(name: str) -> str:
        while island[name] != name:
            island[name] = island[island[name]]
            name = island[name]
        return name

    chosen: dict[str, list[Joint]] = {name: [] for name in island}
    loops: set[str] = set()
    # stable sort: the author's order within the same number of freedoms
    for joint in sorted(
        model.joints.values(), key=lambda joint: (not stays(model, joint), len(CATALOGUE[joint.type].freedoms))
    ):
        a, b = root(joint.first), root(joint.second)
        if a == b or joint.loop or not CATALOGUE[joint.type].tree:
            if has_armature(joint):
                raise ModelError(
                    f"joint '{joint.name}': has armature, but closes a loop whose other joints have it too, or is to "
                    "(loop=True); leave armature out of one joint of the loop, and have that one close it"
                )
            loops.add(joint.name)
            continue
        island[b] = a
        chosen[joint.first].append(joint)
        chosen[joint.second].append(joint)

    tree = Tree([], [], [], [joint for joint in model.joints.values() if joint.name in loops])
    order = {name: k for k, name in enumerate(model.joints)}
    _grow(tree, GROUND, -1, chosen, order)
    hung = set(tree.bodies)
    for name in model.bodies:
        if name in hung:
            continue
        start = len(tree.bodies)
        tree.bodies.append(name)
        tree.parents.append(-1)
        tree.carriers.append(FreeJoint(name))
        _grow(tree, name, start, chosen, order)
        hung.update(tree.bodies[start:])
    check_carriers(model, tree)
    return tree


def scatter(model: Model, apart: bool = False) -> Tree:
    """Maximal coordinates: every body on a free joint of its own, every joint a set of rows; but for those that stay,
    unless all is to be `apart`."""
    carries = any(body.is_carrier for body in model.bodies.values())  # which only a tree can have
    if not apart and (carries or any(stays(model, joint) for joint in model.joints.values())):
        return _cut(span(model), model)
    bodies = list(model.bodies)
    return Tree(bodies, [-1] * len(bodies), [FreeJoint(name) for name in bodies], list(model.joints.values()))


def _cut(tree: Tree, model: Model) -> Tree:
    """A tree cut at all joints but those that stay."""
    own = list(zip(tree.bodies, tree.carriers, strict=True))
    kept = [joint if stays(model, joint) else FreeJoint(body) for body, joint in own]
    parents = [-1 if isinstance(joint, FreeJoint) else parent for joint, parent in zip(kept, tree.parents, strict=True)]
    roots: list[int] = []
    for i, parent in enumerate(parents):
        roots.append(i if parent < 0 else roots[parent])
    order = sorted(range(len(parents)), key=lambda i: (roots[i], i))
    place = {old: new for new, old in enumerate(order)} | {-1: -1}
    carriers = {key_of(joint) for joint in kept}
    return Tree(
        [tree.bodies[i] for i in order],
        [place[parents[i]] for i in order],
        [kept[i] for i in order],
        [joint for joint in model.joints.values() if joint.name not in carriers],
    )


def _grow(tree: Tree, start: str, index: int, chosen: dict, order: dict) -> None:
    """Depth first, so that a chain is contiguous; a stack, because chains may be 10,000 long."""
    came_by: dict[str, str] = {}
    stack = [(start, index, joint) for joint in sorted(chosen[start], key=lambda j: -order[j.name])]
    while stack:
        name, at, joint = stack.pop()
        if came_by.get(name) == joint.name:
            continue
        child = joint.second if joint.first == name else joint.first
        tree.bodies.append(child)
        tree.parents.append(at)
        tree.carriers.append(joint)
        came_by[child] = joint.name
        here = len(tree.bodies) - 1
        stack += [(child, here, j) for j in sorted(chosen[child], key=lambda j: -order[j.name])]


def has_loop(model: Model) -> bool:
    """Whether some joint connects bodies that others connect already."""
    group = {name: name for name in [*model.bodies, "ground"]}

    def root(name: str) -> str:
        while group[name] != name:
            group[name] = group[group[name]]
            name = group[name]
        return name

    for joint in model.joints.values():
        first, second = root(joint.first), root(joint.second)
        if first == second:
            return True
        group[first] = second
    return False
