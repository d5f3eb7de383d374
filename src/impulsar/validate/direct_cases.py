"""The direct method: loops done right, at the papers' own step."""

import math

import numpy as np

from ..author.errors import ModelError
from ..author.model import Model
from ..author.shapes import Capsule
from ..engine.methods import Direct
from ..scenes import scene
from ..scenes.cross_lift import WIDTH
from ..scenes.four_bar import build as build_four_bar
from ..scenes.parts import pendulum_link, rod
from ..scenes.peaucellier import LINE
from ..world.world import World
from .case import Case

COORDINATES = ("generalized", "maximal")
FREE_HEIGHT, LOADED_HEIGHT = 0.38525342, 0.37774964  # of the cross-lift's plate [m]
VIBRATION = 1.2324e-3  # energy released at 40° without damper [J]
_notes: list[str] = []


def show() -> None:
    """Print what the last run measured beside its figure."""
    for note in _notes:
        print(f"    {note}")


def drag_and_release(start: str, device: str) -> dict[str, tuple[float, float]]:
    """Worst imbalance [% of 2.4525 J] and constraint error of the 10 s drag and release, by coordinates."""
    found = {}
    _notes.clear()
    for coordinates in COORDINATES:
        world = World(scene("ten-pendula", start=start, hand=True), "direct", coordinates, dt=0.01, device=device)
        imbalance = error = 0.0
        for _ in range(1000):
            world.step()
            imbalance = max(imbalance, abs(world.energy().imbalance))
            error = max(error, float(world.constraint_error()))
        found[coordinates] = (100.0 * imbalance / 2.4525, error)
        _notes.append(
            f"{start}, {coordinates}: imbalance {100 * imbalance / 2.4525:.2g} %, constraint error {error:.1e}"
        )
    return found


def drag_books(device: str) -> float:
    """Worst imbalance from both starts in both coordinates."""
    worst, notes = 0.0, []
    for start in ("30deg", "horizontal"):
        worst = max(worst, *(imbalance for imbalance, _ in drag_and_release(start, device).values()))
        notes += _notes
    _notes[:] = notes
    return worst


def drag_constraints(device: str) -> float:
    """Worst constraint error from `horizontal` in both coordinates."""
    return max(error for _, error in drag_and_release("horizontal", device).values())


def tip_trajectory(device: str) -> float:
    """Distance of the free tip from SciPy's DOP853 at rtol 1e-13 over Pinocchio's aba, over 2 s from 30deg [m]."""
    try:
        import pinocchio as pin
    except ImportError as error:
        raise ModelError("case 'tip-trajectory' needs Pinocchio: pip install pin") from error
    from scipy.integrate import solve_ivp

    model = pin.Model()
    inertia = pin.Inertia(0.1, np.array([0.0, 0.0, -0.025]), np.diag([21e-6, 21e-6, 0.5e-6]))
    parent = 0
    for _ in range(10):
        place = pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.05 if parent else 0.0]))
        parent = model.addJoint(parent, pin.JointModelRX(), place, f"hinge{parent}")
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    data = model.createData()

    def slope(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[10:], pin.aba(model, data, y[:10], y[10:], np.zeros(10))])

    times = 0.1 * np.arange(1, 21)
    start = np.zeros(20)
    start[0] = math.radians(30)
    exact = solve_ivp(slope, (0, 2.0), start, "DOP853", times, rtol=1e-13, atol=1e-13).y[:10].T
    world = World(scene("ten-pendula", start="30deg"), "direct", dt=0.01, device=device)
    worst = 0.0
    for q in exact:
        world.step(10)
        angles = np.cumsum(q)
        tip = 0.05 * np.array([0.0, np.sin(angles).sum(), -np.cos(angles).sum()])
        worst = max(worst, float(np.linalg.norm(world.point("link10", (0, 0, -0.025)) - tip)))
    return worst


def lift_heights(device: str) -> float:
    """Error of the plate's height at t = 2 (free) and t = 4 (100 N), both coordinates [m]."""
    worst = 0.0
    for coordinates in COORDINATES:
        world = World(scene("cross-lift", case="load"), "direct", coordinates, dt=0.01, device=device)
        for target in (FREE_HEIGHT, LOADED_HEIGHT):
            world.step(200)
            worst = max(worst, abs(world.point("plate")[2] - target))
    return worst


def lift_constraints(device: str) -> float:
    """Constraint error of the lift free, loaded and held, both coordinates."""
    worst = 0.0
    for coordinates in COORDINATES:
        for case in ("free", "load", "hand"):
            world = World(scene("cross-lift", case=case), "direct", coordinates, dt=0.01, device=device)
            for _ in range(50 if case == "free" else 240):
                world.step()
                worst = max(worst, float(world.constraint_error()))
    return worst


def lift_symmetry(device: str) -> float:
    """Difference of the reactions of sides A and B under the centred load, of the largest; both coordinates."""
    mirror = np.array([1.0, -1.0, 1.0])  # y points to the other side
    worst = 0.0
    for coordinates in COORDINATES:
        world = World(scene("cross-lift", case="load"), "direct", coordinates, dt=0.01, device=device)
        world.step(300)
        names = [name for name in world.model.joints if name.endswith("A")]
        if any(world.joint(name).reaction_determinate for name in names):
            return math.inf  # all of them are a choice
        forces = [world.joint(name).reaction.force for name in world.model.joints]
        torques = [world.joint(name).reaction.torque for name in world.model.joints]
        force, torque = np.abs(forces).max(), max(np.abs(torques).max(), np.abs(forces).max() * WIDTH)
        for name in names:
            a, b = (world.joint(name[:-1] + side).reaction for side in "AB")
            worst = max(worst, np.abs(a.force - mirror * b.force).max() / force)
            worst = max(worst, np.abs(a.torque + mirror * b.torque).max() / torque)
    return float(worst)


def vibration_lost(coordinates: str, seconds: float, device: str) -> float:
    """How much of the 1.2324 mJ of undamped vibration is lost at most, in per cent."""
    world = World(scene("cross-lift", damping=0.0), "direct", coordinates, dt=0.01, device=device)
    start, worst = world.energy().total, 0.0
    for _ in range(round(seconds / 0.5)):
        world.step(50)
        worst = max(worst, abs(world.energy().total - start))
    return 100.0 * worst / VIBRATION


def lift_vibration(device: str) -> float:
    """The loss over 10 s, in per cent."""
    return max(vibration_lost(coordinates, 10.0, device) for coordinates in COORDINATES)


def linkage_line(device: str) -> float:
    """Distance of the Peaucellier linkage's output point from its line over one cycle at h = 0.01 [m]."""
    worst = 0.0
    for coordinates in COORDINATES:
        world = World(scene("peaucellier"), "direct", coordinates, dt=0.01, device=device)
        probe = world.model.probes["path D"]
        for _ in range(629):
            world.step()
            worst = max(worst, abs(world.point(probe.body, probe.p_BQ)[0] - LINE))
    return worst


def dead_centre(device: str) -> float:
    """Constraint error of a free four-bar over 1,000 turns of its crank, through the dead centres of its rocker."""
    model = build_four_bar()
    model.gravity = np.zeros(3)
    crank = model.bodies["crank"]
    crank.angular_velocity = np.array([0.0, 0.0, 400.0])
    crank.velocity = np.cross(crank.angular_velocity, crank.position)
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the others are brought to fit
        world = World(model, "direct", dt=0.01, device=device)
    start = world.energy().total
    worst, steps = 0.0, 0
    while abs(world.joint("O").position) < 2000 * math.pi and steps < 60_000:
        world.step(50)
        steps += 50
        worst = max(worst, float(world.constraint_error()))
    turns = abs(world.joint("O").position) / (2 * math.pi)
    _notes[:] = [f"{turns:.0f} turns in {world.time:.0f} s, energy changed by {world.energy().total / start - 1:.1e}"]
    return worst if turns >= 1000 else math.inf


def mass_ratio(device: str) -> float:
    """Constraint error of a hanging chain of five with 1e4 times the mass at its end, pushed; both coordinates."""
    worst = 0.0
    for coordinates in COORDINATES:
        model = scene("chain", n=5, start="30deg")
        heavy = model.bodies["link5"]
        heavy.mass, heavy.inertia = 1e4 * heavy.mass, 1e4 * heavy.inertia
        world = World(model, "direct", coordinates, dt=0.01, device=device)
        for _ in range(100):
            world.step()
            worst = max(worst, float(world.constraint_error()))
        scale = 1e4 * 0.1 * 9.81 * 0.25
        if abs(world.energy().imbalance) > 1e-4 * scale:
            return math.inf
    return worst


def door(device: str) -> float:
    """A door on two coaxial hinges swings as on one: difference of the angles after 2 s, both coordinates [rad]."""
    angles = []
    for coordinates in COORDINATES:
        for hinges in (1, 2):
            model = Model("door", gravity=(0.0, -9.81, 0.0))
            panel = model.body(
                "panel", mass=20.0, inertia=(6.0, 7.5, 1.6), position=(0.4, 0.0, 0.0), shape=Capsule(0.05, 0.8)
            )
            for k, z in enumerate((0.8, -0.8)[:hinges]):
                model.joint(f"hinge{k}", "revolute", model.ground, panel, at=(0, 0, z), axis=(0, 0, 1))
            world = World(model, "direct", coordinates, dt=0.01, device=device)
            world.step(200)
            angles.append(world.joint("hinge0").position)
    return float(np.ptp(angles))


def long_chain(device: str) -> float:
    """Constraint error of 10,000 free links that fold at every hinge, and how far the end of 500 is from the tree's."""
    error, _ = _fold(10_000, "maximal", device)
    short, end = _fold(500, "maximal", device)
    _, true_end = _fold(500, "generalized", device)
    return max(error, short, float(np.linalg.norm(end - true_end)))


def _fold(n: int, coordinates: str, device: str) -> tuple[float, np.ndarray]:
    """Constraint error, and where the last link is, of a chain that springs fold up.

    Without gravity, from straight, hinges to and fro in turns, by about 1e-3 rad in 0.004 s: left alone, the ends of
    links would part by their turn times half a length.
    """
    model = Model("folding chain", gravity=(0, 0, 0))
    before, end, fold = model.ground, np.zeros(3), 0.5
    for k in range(n):
        top = end
        link, end = pendulum_link(model, f"link{k}", top, 0.0)
        model.joint(f"hinge{k}", "revolute", before, link, at=top, axis=(1, 0, 0), stiffness=0.01, rest=fold)
        before, fold = link, -fold
    world = World(model, Direct(rtol=1e-8, atol=1e-8), coordinates, dt=0.002, device=device)
    world.step(2)
    return float(world.constraint_error()), world.body(before.name).position


def flat_parallelogram(device: str) -> float:
    """A parallelogram driven through its flat position does not fold into the anti-parallelogram: |angle gap| [rad]."""
    model = Model("parallelogram", gravity=(0, 0, 0))
    a = rod(model, "left", (0, 0, 0), (0, 1, 0), 1.0, velocity=(0.5, 0, 0), spin=(0, 0, -1))
    b = rod(model, "right", (1, 0, 0), (1, 1, 0), 1.0, velocity=(0.5, 0, 0), spin=(0, 0, -1))
    c = rod(model, "top", (0, 1, 0), (1, 1, 0), 1.0, velocity=(1, 0, 0))
    for name, first, second, at in (
        ("A", model.ground, a, (0, 0, 0)),
        ("B", a, c, (0, 1, 0)),
        ("C", c, b, (1, 1, 0)),
        ("D", model.ground, b, (1, 0, 0)),
    ):
        model.joint(name, "revolute", first, second, at=at, axis=(0, 0, 1))
    world = World(model, "direct", dt=0.01, device=device)
    worst = 0.0
    for _ in range(1000):  # 1 rad/s: three flat positions in 10 s
        world.step()
        worst = max(worst, abs(world.joint("A").position - world.joint("D").position))
        if world.constraint_error() > 1e-9:
            return math.inf
    return worst


CASES = [
    Case(
        "drag-books",
        "ten pendula dragged and released at h = 0.01 by direct, both starts, both coordinates: books",
        0.01,
        "%",
        drag_books,
        show=show,
    ),
    Case(
        "drag-constraints",
        "the same from horizontal: constraint error (paper 1.6e-5)",
        1e-9,
        "m, rad",
        drag_constraints,
        show=show,
    ),
    Case("tip-trajectory", "free tip from 30deg against DOP853 over Pinocchio's aba, 2 s", 1e-7, "m", tip_trajectory),
    Case("lift-heights", "cross-lift: height of the plate at t = 2 and 4 s", 1e-7, "m", lift_heights),
    Case("lift-constraints", "cross-lift free, loaded, held: constraint error", 1e-9, "m, rad", lift_constraints),
    Case("lift-symmetry", "cross-lift under a centred load: reactions of side A = side B", 1e-8, "1", lift_symmetry),
    Case(
        "lift-vibration",
        "cross-lift undamped: 1.2324 mJ of vibration kept over 10 s",
        0.5,
        "%",
        lift_vibration,
        slow=True,
    ),
    Case("linkage-line", "Peaucellier linkage: output point on its line at h = 0.01", 1e-9, "m", linkage_line),
    Case("dead-centre", "four-bar, 1,000 turns: constraint error", 1e-9, "m, rad", dead_centre, show=show),
    Case("mass-ratio", "hanging chain with a mass ratio of 1e4: constraint error", 1e-9, "m, rad", mass_ratio),
    Case("door", "a door on two coaxial hinges moves as on one", 1e-6, "rad", door),
    Case("flat-parallelogram", "a parallelogram stays on its branch when flat", 1e-6, "rad", flat_parallelogram),
    Case(
        "long-chain",
        "10,000 links that fold in maximal coordinates: joints closed; the last of 500 where the tree has it",
        1e-9,
        "m, rad",
        long_chain,
        slow=True,
    ),
]
