"""Torque that a movement stimulus on a front wheel needs, beside Exudyn (Wang 2011 Figs. 5 to 7, there beside ADAMS).

The rigid parts of the Mini Baja, which stands with its hubs on springs to the ground: those of its tyres, along each
axis. The lower arm of the left front wheel is turned up and down, φ = A (1 - cos ω t), and at t = 10 s an extra torque
about the car's long axis is put on the chassis, here by the icon's edit. Exudyn gets the same bodies, joints and
springs, and is started anew at the switch, so that its order survives the jump. Its own error is by how much halving
its steps changes what it finds, before the switch and after. Its rule is of order 2, so that a third of that is left:

    figure = max |T - T_h| / max |T_2h - T_h|         1/3 where T is exact
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..author.errors import ModelError
from ..author.model import Model
from ..author.parts import Joint, Motor
from ..author.profiles import Harmonic
from ..author.rotations import rotation_matrix
from ..edits import ApplyLoad
from ..engine.methods import Direct
from ..results import COLOURS, legend, new_figure, save_figure, style
from ..scenes import scene
from ..scenes.minibaja import CORNERS, TYRE, TYRE_DAMPING, point, wheel_load
from ..world.world import World
from .case import Case, print_table

DRIVEN = "lower hinge fl"
SWING, OMEGA = 0.06, 3.0  # of the arm [rad], [rad/s]
EXTRA = (150.0, 0.0, 0.0)  # on the chassis [N m]
GRIP, GRIP_DAMPING = 20e3, 300.0  # of a tyre's contact along the road and across [N/m], [N s/m]
REACH = 1.0  # length of the springs that stand for it [m]
SWITCH, END, EVERY = 10.0, 12.0, 0.02  # [s]
FINE, RADIUS = 1e-3, 0.6  # Exudyn's step [s], and spectral radius at infinity: multipliers begin with a transient
LOOPS = 1e-9  # joints may be open by so much [m, rad]


def rig() -> Model:
    """The Mini Baja without tyres and differential, on springs, one of its front wheels moved."""
    model = scene("minibaja", drive="coast", speed=0.0)
    for name in ("sun", "pinion", "differential"):
        del model.joints[name]
    for name in ("side gear", "final drive"):
        del model.bodies[name]
    model.couplings.clear()
    model.tyres.clear()
    model.obstacles.clear()
    for corner in CORNERS:
        hub, wheel = point(corner, "wheel"), f"wheel {corner}"
        foot = hub * (1.0, 1.0, 0.0)
        free = float(hub[2]) + wheel_load(corner) / TYRE
        model.spring(f"tyre {corner}", wheel, "ground", hub, foot, TYRE, TYRE_DAMPING, free)
        for name, way in (("along", (REACH, 0, 0)), ("across", (0, REACH, 0))):
            model.spring(f"grip {name} {corner}", wheel, "ground", hub, hub + way, GRIP, GRIP_DAMPING, REACH)
    angle = Harmonic(SWING, OMEGA, -math.pi / 2, SWING)
    model.joints[DRIVEN].features["angle"].motor = Motor(position=angle)
    return model


@dataclass(frozen=True)
class Curve:
    """Torque of the stimulus over time, and how far joints were open."""

    times: np.ndarray  # [s]
    torque: np.ndarray  # [N m]
    loops: float  # worst of all samples [m, rad]


def samples(end: float) -> np.ndarray:
    """Times of the curves, none of them at the switch [s]."""
    return EVERY / 2 + EVERY * np.arange(round(end / EVERY))


def ours(switch: float, end: float, device: str = "cpu") -> Curve:
    """By Impulsar, the extra torque by the edit that its icon makes."""
    world = World(rig(), Direct(rtol=1e-9, atol=1e-9), dt=EVERY / 2, device=device)
    times = samples(end)
    torque, loops = [], 0.0
    for k in range(2 * len(times)):
        if k == round(2 * switch / EVERY):
            world.apply(ApplyLoad("extra", "chassis", torque=EXTRA))
        world.step()
        loops = max(loops, float(world.constraint_error()))
        if k % 2 == 0:
            torque.append(float(world.joint(DRIVEN).motor_torque))
    return Curve(times, np.array(torque), loops)


class Peer:
    """The same mechanism in Exudyn: redundant coordinates, generalized-alpha."""

    def __init__(self, model: Model):
        try:
            self.exu: Any = import_module("exudyn")
        except ImportError as error:
            raise ModelError("case 'stimulus': Exudyn is not installed here; get it by pip install exudyn") from error
        self.items: Any = import_module("exudyn.itemInterface")
        utilities: Any = import_module("exudyn.utilities")
        self.exu.config.printToConsole = False
        self.container = self.exu.SystemContainer()
        self.mbs = self.container.AddSystem()
        self.numbers = {"ground": self.mbs.AddObject(self.items.ObjectGround())}
        for body in model.bodies.values():
            self.numbers[body.name] = self.mbs.CreateRigidBody(
                inertia=utilities.RigidBodyInertia(mass=body.mass, inertiaTensor=body.inertia),
                referencePosition=body.position,
                referenceRotationMatrix=rotation_matrix(body.orientation),
                initialVelocity=body.velocity,
                gravity=model.gravity,
            )
        for joint in model.joints.values():
            self._join(joint)
        for spring in model.springs.values():
            self.mbs.AddObject(
                self.items.ObjectConnectorSpringDamper(
                    markerNumbers=[self._marker(spring.first, spring.p_PQ), self._marker(spring.second, spring.p_CQ)],
                    referenceLength=spring.free_length,
                    stiffness=spring.stiffness,
                    damping=spring.damping,
                )
            )
        chassis = self._marker("chassis", np.zeros(3))
        self.load = self.mbs.AddLoad(self.items.LoadTorqueVector(markerNumber=chassis, loadVector=[0, 0, 0]))
        self.mbs.Assemble()

    def _marker(self, body: str, at: np.ndarray) -> Any:
        return self.mbs.AddMarker(self.items.MarkerBodyRigid(bodyNumber=self.numbers[body], localPosition=at))

    def _join(self, joint: Joint) -> None:
        """A joint, z its axis; the rack, which no one moves, and the driven hinge are held about it."""
        pair = [self._marker(joint.first, joint.p_PF), self._marker(joint.second, joint.p_CM)]
        if joint.type == "distance":
            self.mbs.AddObject(self.items.ObjectConnectorDistance(markerNumbers=pair, distance=joint.length))
            return
        free = {"spherical": (3, 4, 5), "revolute": (5,), "prismatic": ()}[joint.type]
        options: dict[str, Any] = {}
        if joint.name == DRIVEN:
            free = ()
            options = {"offsetUserFunction": _swing, "offsetUserFunction_t": _swing_rate}
        number = self.mbs.AddObject(
            self.items.ObjectJointGeneric(
                markerNumbers=pair,
                constrainedAxes=[int(k not in free) for k in range(6)],
                rotationMarker0=rotation_matrix(joint.q_PF),
                rotationMarker1=rotation_matrix(joint.q_CM),
                **options,
            )
        )
        if joint.name == DRIVEN:
            kind = self.exu.OutputVariableType.TorqueLocal
            self.sensor = self.mbs.AddSensor(
                self.items.SensorObject(
                    objectNumber=number, outputVariableType=kind, storeInternal=True, writeToFile=False
                )
            )

    def run(self, h: float, switch: float, end: float) -> Curve:
        """Torque by steps h."""
        settings = self.exu.SimulationSettings()
        settings.solution.file.write = False
        settings.solution.sensors.writePeriod = EVERY / 2
        settings.parallel.numberOfThreads = 1
        integration = settings.timeIntegration
        integration.verboseMode = 0
        integration.generalizedAlpha.spectralRadius = RADIUS
        integration.newton.useModifiedNewton = True
        integration.newton.relativeTolerance = 1e-10
        integration.newton.absoluteTolerance = 1e-12
        settings.linearSolver.solverType = self.exu.LinearSolverType.EigenSparse
        found = []
        for start, stop, torque in ((0.0, switch, (0.0, 0.0, 0.0)), (switch, end, EXTRA)):
            self.mbs.SetLoadParameter(self.load, "loadVector", list(torque))
            integration.startTime, integration.endTime = start, stop
            integration.numberOfSteps = round((stop - start) / h)
            if not self.mbs.SolveDynamic(settings, solverType=self.exu.DynamicSolverType.GeneralizedAlpha):
                raise RuntimeError("Exudyn's solver gave up")
            found.append(np.array(self.mbs.GetSensorStoredData(self.sensor)))
            data = self.mbs.systemData
            data.SetODE2Coordinates(data.GetODE2Coordinates(), self.exu.ConfigurationType.Initial)
            data.SetODE2Coordinates_t(data.GetODE2Coordinates_t(), self.exu.ConfigurationType.Initial)
        rows = np.concatenate(found)
        times = samples(end)
        at = [int(np.argmin(np.abs(rows[:, 0] - t))) for t in times]
        if np.abs(rows[at, 0] - times).max() > 1e-9:
            raise RuntimeError("Exudyn took no sample at the times asked for")
        return Curve(times, rows[at, 3], 0.0)


def _swing(mbs: Any, t: float, item: int, given: Any) -> list[float]:
    return [0.0, 0.0, 0.0, 0.0, 0.0, SWING * (1.0 - math.cos(OMEGA * t))]


def _swing_rate(mbs: Any, t: float, item: int, given: Any) -> list[float]:
    return [0.0, 0.0, 0.0, 0.0, 0.0, SWING * OMEGA * math.sin(OMEGA * t)]


@dataclass(frozen=True)
class Compared:
    """Curves of both codes."""

    switch: float
    ours: Curve
    coarse: Curve
    fine: Curve

    def row(self, name: str, part: np.ndarray) -> dict[str, Any]:
        """A window of time: differences and Exudyn's own error [N m]."""
        mine, coarse, fine = (curve.torque[part] for curve in (self.ours, self.coarse, self.fine))
        apart, own = np.abs(mine - fine).max(), np.abs(coarse - fine).max()
        return {
            "window": name,
            "torque, least [N m]": float(mine.min()),
            "most": float(mine.max()),
            "apart": float(apart),
            "Exudyn's own error": float(own),
            "ratio": float(apart / own),
            "apart at the end": float(abs(mine[-1] - fine[-1])),
        }

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Before the switch and after."""
        before = self.ours.times < self.switch
        return [self.row("stimulus alone", before), self.row("with the extra torque", ~before)]


@lru_cache(maxsize=2)
def compare(switch: float = SWITCH, end: float = END, fine: float = FINE, device: str = "cpu") -> Compared:
    """Both codes over the protocol of Fig. 7."""
    peers = [Peer(rig()).run(h, switch, end) for h in (2 * fine, fine)]
    return Compared(switch, ours(switch, end, device), *peers)


def difference(device: str = "cpu") -> float:
    """Worst ratio of both windows."""
    return max(row["ratio"] for row in compare(device=device).rows)


def open_loops(device: str = "cpu") -> float:
    """How far joints were open at worst [m, rad]."""
    return compare(device=device).ours.loops


def show() -> None:
    print_table(compare().rows)


def draw(folder: Path) -> Path:
    """Driving torque of both, and their difference beside Exudyn's own error."""
    found = compare()
    times = found.ours.times
    figure = new_figure(9.0, 5.6)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    above.plot(times, found.ours.torque, color=COLOURS[0], lw=3.0, alpha=0.5, label="Impulsar")
    above.plot(times, found.fine.torque, color=COLOURS[1], lw=1.0, ls="--", label="Exudyn")
    above.axvline(found.switch, color="0.5", lw=0.8)
    above.annotate(
        f"{EXTRA[0]:g} N m on the chassis", (found.switch, above.get_ylim()[1]), xytext=(-4, -10),
        textcoords="offset points", ha="right", va="top", fontsize=8,
    )  # fmt: skip
    for k, other, label in ((1, found.coarse, "Exudyn, steps halved"), (0, found.ours, "Impulsar and Exudyn")):
        below.semilogy(times, np.abs(other.torque - found.fine.torque), color=COLOURS[k], label=label)
    style(above, "torque of the stimulus [N m]")
    style(below, "apart [N m]")
    below.set_xlabel("t [s]")
    for ax in (above, below):
        legend(ax, 2)
    path = folder / "stimulus.png"
    save_figure(figure, path)
    return path


CASES = [
    Case(
        "stimulus",
        "torque of a stimulus on a Mini Baja's wheel, an extra torque from 10 s on: apart from Exudyn's by less than "
        "halving Exudyn's steps changes it",
        1.0,
        "1",
        difference,
        slow=True,
        show=show,
        draw=draw,
    ),
    Case("stimulus-loops", "loops of that Mini Baja stay closed", LOOPS, "m, rad", open_loops, slow=True),
]
