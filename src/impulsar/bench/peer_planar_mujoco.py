"""MuJoCo on planar mechanisms: hinges and slides in a tree, loops by connect equalities as stiff as they may be.

Its equalities are soft: their time constant is 2 h, the least that MuJoCo takes, and their impedance 0.9999, so that
what they give way goes down with the step h.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..validate.report.work import PARTS, Problem
from .planar import GROUND, Planar, project

INTEGRATORS = ("RK4", "implicitfast")


@dataclass(frozen=True)
class Mujoco:
    """MuJoCo with one of its integrators."""

    variant: str

    name = "MuJoCo"
    settings = (
        "hinges and slides in a tree, connect equalities with solref (2 h, 1), solimp 0.9999, Newton solver to 1e-14, "
        "no contacts, fixed steps, all steps in one call"
    )

    def knobs(self, problem: Problem) -> Sequence[float]:
        return [problem.duration / problem.samples / n for n in PARTS]

    def label(self, knob: float) -> str:
        return f"h {knob:.3g} s"

    def prepare(self, problem: Problem, knob: float) -> "Passage":
        return Passage(problem, self.variant, knob)


def contenders(problem: Problem) -> list[Mujoco]:
    """Every integrator takes every problem."""
    return [Mujoco(name) for name in INTEGRATORS]


class Passage:
    """A model of MuJoCo's."""

    def __init__(self, problem: Problem, variant: str, h: float):
        import mujoco

        self.mujoco, self.problem, self.plane = mujoco, problem, project(problem.build())
        self.model = mujoco.MjModel.from_xml_string(xml(self.plane, variant, h))
        self.data = mujoco.MjData(self.model)
        self.stride = round(problem.duration / problem.samples / h)

    def positions(self) -> np.ndarray:
        mujoco, model, data = self.mujoco, self.model, self.data
        mujoco.mj_resetData(model, data)
        found = []
        mujoco.set_mju_user_warning(lambda text: None)  # else it writes a file where it runs
        ids = [model.body(f"b{k}").id for k in range(len(self.plane.mass))]
        for _ in range(self.problem.samples):
            mujoco.mj_step(model, data, self.stride)
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            found.append(data.xipos[ids, :2].copy())
        mujoco.set_mju_user_warning(None)
        if data.warning.number.sum():
            raise RuntimeError("MuJoCo warns of an unstable simulation")
        return self.plane.lift(np.array(found))

    def spend(self) -> float:
        self.mujoco.mj_resetData(self.model, self.data)
        n = self.stride * self.problem.samples
        begin = time.process_time()
        self.mujoco.mj_step(self.model, self.data, n)
        return time.process_time() - begin


def xml(plane: Planar, integrator: str, h: float) -> str:
    """The mechanism as MJCF: a body's frame has the axes of the plane and its origin at the centre of mass."""
    order, loops = plane.tree()
    children: dict[int, list] = {}
    for body, joint, forward in order:
        children.setdefault(joint.first if forward else joint.second, []).append((body, joint, forward))
    sites: dict[int, list[str]] = {}
    tendons = []
    for k, spring in enumerate(plane.springs):
        for end, (body, at) in enumerate(zip((spring.first, spring.second), spring.ends, strict=True)):
            place = at - (np.zeros(2) if body == GROUND else plane.centre[body])
            sites.setdefault(body, []).append(f'<site name="s{k}{end}" pos="{_text([*place, 0.0])}"/>')
        tendons.append(
            f'<spatial stiffness="{spring.stiffness!r}" damping="{spring.damping!r}" '
            f'springlength="{spring.free_length!r}"><site site="s{k}0"/><site site="s{k}1"/></spatial>'
        )

    def write(body: int, joint: Any, forward: bool) -> str:
        parent = joint.first if forward else joint.second
        origin = np.zeros(2) if parent == GROUND else plane.centre[parent]
        place = joint.at - plane.centre[body]
        hinge = f'<joint type="hinge" axis="0 0 1" pos="{_text([*place, 0.0])}"/>'
        slide = "" if joint.axis is None else f'<joint type="slide" axis="{_text([*joint.axis, 0.0])}"/>'
        freedoms = {"hinge": [hinge], "slide": [slide], "slot": [slide, hinge] if forward else [hinge, slide]}
        inside = "".join(write(*child) for child in children.get(body, []))
        inertia = plane.inertia[body]
        return (
            f'<body name="b{body}" pos="{_text([*(plane.centre[body] - origin), 0.0])}">'
            f"{''.join(freedoms[joint.kind])}"
            f'<inertial mass="{plane.mass[body]!r}" pos="0 0 0" diaginertia="{_text([inertia, inertia, inertia])}"/>'
            f"{''.join(sites.get(body, []))}{inside}</body>"
        )

    connects = []
    for joint in loops:
        names = ["world" if body == GROUND else f"b{body}" for body in (joint.first, joint.second)]
        anchor = joint.at - (np.zeros(2) if joint.first == GROUND else plane.centre[joint.first])
        connects.append(
            f'<connect body1="{names[0]}" body2="{names[1]}" anchor="{_text([*anchor, 0.0])}" '
            f'solref="{2 * h!r} 1" solimp="0.9999 0.9999 0.001"/>'
        )
    return (
        f'<mujoco><option timestep="{h!r}" gravity="{_text([*plane.gravity, 0.0])}" integrator="{integrator}" '
        f'solver="Newton" tolerance="1e-14" iterations="100"><flag contact="disable" eulerdamp="disable"/></option>'
        f"<worldbody>{''.join(sites.get(GROUND, []))}{''.join(write(*c) for c in children.get(GROUND, []))}</worldbody>"
        f"<equality>{''.join(connects)}</equality><tendon>{''.join(tendons)}</tendon></mujoco>"
    )


def _text(values: Any) -> str:
    return " ".join(repr(float(value)) for value in values)
