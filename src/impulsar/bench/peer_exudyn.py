"""Exudyn on planar mechanisms: its 2D bodies and joints, by the generalized-alpha family and by explicit integrators.

Explicit integrators take no joints: mechanisms that are trees are its ObjectKinematicTree there, in joint angles.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from ..validate.report.work import PARTS, Problem
from .planar import GROUND, Planar, project

IMPLICIT = {  # solver and what is set of it
    "generalized-alpha, ρ = 0.9": ("GeneralizedAlpha", {"spectralRadius": 0.9}),
    "trapezoidal, index 2": ("TrapezoidalIndex2", {}),
}
EXPLICIT = ("RK44", "RK67", "DOPRI5")
TOLERANCES = tuple(10.0**-k for k in range(3, 14))


@dataclass(frozen=True)
class Exudyn:
    """Exudyn with one of its integrators."""

    variant: str

    name = "Exudyn"

    @property
    def settings(self) -> str:
        if self.variant in IMPLICIT:
            return (
                "2D bodies and joints, modified Newton with tolerances relative 1e-10 and absolute 1e-12, dense "
                "linear solver, fixed steps, no files, no sensors while timed"
            )
        knob = "rtol = atol varied, automatic steps" if self.variant == "DOPRI5" else "fixed steps"
        return f"ObjectKinematicTree, {knob}, no files, no sensors while timed"

    def knobs(self, problem: Problem) -> Sequence[float]:
        part = problem.duration / problem.samples
        return TOLERANCES if self.variant == "DOPRI5" else [part / n for n in PARTS]

    def label(self, knob: float) -> str:
        return f"rtol {knob:.0e}" if self.variant == "DOPRI5" else f"h {knob:.3g} s"

    def prepare(self, problem: Problem, knob: float) -> "Passage":
        return Passage(problem, self.variant, knob)


def is_tree(plane: Planar) -> bool:
    """Whether explicit integrators take it."""
    return not plane.tree()[1] and not plane.springs and all(joint.kind == "hinge" for joint in plane.joints)


def contenders(problem: Problem) -> list[Exudyn]:
    """Those that a problem allows."""
    explicit = EXPLICIT if is_tree(project(problem.build())) else ()
    return [Exudyn(name) for name in (*IMPLICIT, *explicit)]


class Passage:
    """A system of Exudyn's and how it is solved."""

    def __init__(self, problem: Problem, variant: str, knob: float):
        import exudyn as exu

        exu.config.printToConsole = False
        self.exu: Any = exu
        self.problem, self.plane = problem, project(problem.build())
        self.container = exu.SystemContainer()
        self.mbs = self.container.AddSystem()
        self.sensors: list[Any] = []
        self.place = exu.OutputVariableType.Position
        self.is_tree = variant in EXPLICIT
        (self._build_tree if self.is_tree else self._build_bodies)()
        self.mbs.Assemble()
        settings = self.settings = exu.SimulationSettings()
        settings.solution.file.write = False
        settings.timeIntegration.verboseMode = 0
        settings.timeIntegration.endTime = problem.duration
        settings.parallel.numberOfThreads = 1
        if variant in IMPLICIT:
            name, options = IMPLICIT[variant]
            for key, value in options.items():
                setattr(settings.timeIntegration.generalizedAlpha, key, value)
            settings.timeIntegration.newton.useModifiedNewton = True
            settings.timeIntegration.newton.relativeTolerance = 1e-10
            settings.timeIntegration.newton.absoluteTolerance = 1e-12
            settings.timeIntegration.adaptiveStep = False
        else:
            name = variant
        settings.timeIntegration.automaticStepSize = variant == "DOPRI5"
        if variant == "DOPRI5":
            settings.timeIntegration.relativeTolerance = settings.timeIntegration.absoluteTolerance = knob
            settings.timeIntegration.numberOfSteps = problem.samples
        else:
            settings.timeIntegration.numberOfSteps = round(problem.duration / knob)
        self.solver = getattr(exu.DynamicSolverType, name)

    def _build_bodies(self) -> None:
        items = import_module("exudyn.itemInterface")

        plane, mbs = self.plane, self.mbs
        ground = mbs.AddObject(items.ObjectGround())
        bodies = []
        for mass, inertia, centre in zip(plane.mass, plane.inertia, plane.centre, strict=True):
            node = mbs.AddNode(items.NodeRigidBody2D(referenceCoordinates=[*centre, 0.0]))
            body = mbs.AddObject(items.ObjectRigidBody2D(mass=mass, inertia=inertia, nodeNumber=node))
            marker = mbs.AddMarker(items.MarkerBodyMass(bodyNumber=body))
            mbs.AddLoad(items.LoadMassProportional(markerNumber=marker, loadVector=[*plane.gravity, 0.0]))
            bodies.append((node, body))

        def marker_at(body: int, at: np.ndarray) -> Any:
            origin = np.zeros(2) if body == GROUND else plane.centre[body]
            number = ground if body == GROUND else bodies[body][1]
            return mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=number, localPosition=[*(at - origin), 0.0]))

        for joint in plane.joints:
            pair = [marker_at(joint.first, joint.at), marker_at(joint.second, joint.at)]
            if joint.kind == "hinge":
                mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=pair))
                continue
            assert joint.axis is not None
            across = [-joint.axis[1], joint.axis[0], 0.0]
            mbs.AddObject(
                items.ObjectJointPrismatic2D(
                    markerNumbers=pair[::-1],  # the normal turns with the last, which has the slot
                    axisMarker0=[*joint.axis, 0.0],
                    normalMarker1=across,
                    constrainRotation=joint.kind == "slide",
                )
            )
        for spring in plane.springs:
            pair = [marker_at(spring.first, spring.ends[0]), marker_at(spring.second, spring.ends[1])]
            mbs.AddObject(
                items.ObjectConnectorSpringDamper(
                    markerNumbers=pair,
                    referenceLength=spring.free_length,
                    stiffness=spring.stiffness,
                    damping=spring.damping,
                )
            )
        kind = self.exu.OutputVariableType.Position
        self.sensors = [
            mbs.AddSensor(
                items.SensorNode(nodeNumber=node, outputVariableType=kind, storeInternal=True, writeToFile=False)
            )
            for node, _ in bodies
        ]

    def _build_tree(self) -> None:
        items = import_module("exudyn.itemInterface")

        plane, mbs, exu = self.plane, self.mbs, self.exu
        order, _ = plane.tree()
        place = {GROUND: -1} | {body: k for k, (body, _, _) in enumerate(order)}
        tops = {GROUND: np.zeros(2)} | {body: joint.at for body, joint, _ in order}
        parents = [joint.first if forward else joint.second for _, joint, forward in order]
        count = len(order)
        node = mbs.AddNode(
            items.NodeGenericODE2(
                referenceCoordinates=[0.0] * count, initialCoordinates=[0.0] * count,
                initialCoordinates_t=[0.0] * count, numberOfODE2Coordinates=count,
            )
        )  # fmt: skip
        offsets = [[*(joint.at - tops[parent]), 0.0] for (_, joint, _), parent in zip(order, parents, strict=True)]
        tree = mbs.AddObject(
            items.ObjectKinematicTree(
                nodeNumber=node,
                jointTypes=[self.exu.JointType.RevoluteZ] * count,
                linkParents=[place[parent] for parent in parents],
                jointTransformations=exu.Matrix3DList([np.eye(3)] * count),
                jointOffsets=exu.Vector3DList(offsets),
                linkInertiasCOM=exu.Matrix3DList([np.diag([1.0, 1.0, plane.inertia[b]]) for b, *_ in order]),
                linkCOMs=exu.Vector3DList([[*(plane.centre[b] - tops[b]), 0.0] for b, *_ in order]),
                linkMasses=[plane.mass[b] for b, *_ in order],
                gravity=[*plane.gravity, 0.0],
            )
        )
        stored = {
            "outputVariableType": self.exu.OutputVariableType.Position,
            "storeInternal": True,
            "writeToFile": False,
        }
        for b in range(count):
            local = [*(plane.centre[b] - tops[b]), 0.0]
            self.sensors.append(
                mbs.AddSensor(
                    items.SensorKinematicTree(objectNumber=tree, linkNumber=place[b], localPosition=local, **stored)
                )
            )

    def _solve(self, period: float) -> float:
        self.settings.solution.sensors.writePeriod = period if period else 1e9
        begin = time.process_time()
        done = self.mbs.SolveDynamic(self.settings, solverType=self.solver)
        spent = time.process_time() - begin
        if not done:
            raise RuntimeError("Exudyn's solver gave up")
        return spent

    def _ends(self) -> np.ndarray:
        """Of automatic steps, which keep no times but the end: a run to each."""
        found = []
        for end in self.problem.times:
            self.settings.timeIntegration.endTime = end
            self._solve(0.0)
            found.append([self.mbs.GetSensorValues(sensor)[:2] for sensor in self.sensors])
        self.settings.timeIntegration.endTime = self.problem.duration
        return self.plane.lift(np.array(found))

    def positions(self) -> np.ndarray:
        if self.settings.timeIntegration.automaticStepSize:
            return self._ends()
        self._solve(self.problem.duration / self.problem.samples)
        found = []
        for sensor in self.sensors:
            rows = np.array(self.mbs.GetSensorStoredData(sensor))
            at = [int(np.argmin(np.abs(rows[:, 0] - t))) for t in self.problem.times]
            if np.abs(rows[at, 0] - self.problem.times).max() > 1e-9:
                raise RuntimeError("Exudyn took no sample at the times asked for")
            found.append(rows[at, 1:3])
        return self.plane.lift(np.stack(found, axis=1))

    def spend(self) -> float:
        return self._solve(0.0)
