"""The tree of a model: which joint carries which body, and which joints are left to rows.

Generalized coordinates take a spanning tree. Maximal coordinates take the forest of single bodies: a
free body is a tree of one, so both are the same arrays and the same verbs.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

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


def span(model: Model) -> Tree:
    """Choose the tree: joints with few freedoms first, then in the author's order.

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
    for joint in sorted(model.joints.values(), key=lambda joint: len(CATALOGUE[joint.type].freedoms)):
        a, b = root(joint.first), root(joint.second)
        if a == b or joint.loop or not CATALOGUE[joint.type].tree:
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
    return tree


def scatter(model: Model) -> Tree:
    """Maximal coordinates: every body on a free joint of its own, every joint a set of rows."""
    bodies = list(model.bodies)
    return Tree(bodies, [-1] * len(bodies), [FreeJoint(name) for name in bodies], list(model.joints.values()))


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
