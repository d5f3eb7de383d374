"""Reactions: what the joints transmit, against closed forms, in every method and its coordinates.

Methods of a fixed step give the mean over it, of order 1 as they are; those that control their error give
the value at its end. Methods that iterate do so down to 1e-12 N s here, so that the order is that of
the step and not of the solver.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ..author.model import Model
from ..author.profiles import scalar_profiles
from ..engine.system.slots import SPRING
from ..scenes import SCENES, scene
from ..scenes.parts import rod
from ..world.world import World
from .case import Case, print_table
from .convergence import STEPS, G, observed_order, pendulum, swing
from .variants import EXACT, controlled, fixed, general, variants

_rows: dict[str, list[dict]] = {}


def show(name: str):
    """Prints the table behind the last figure of a case."""

    def print_rows() -> None:
        print_table(_rows[name])

    return print_rows


def orders(name: str, errors_of, device: str, steps: tuple[float, ...] = STEPS) -> float:
    """How far the observed order is from the stated one, the worst of all methods of a fixed step."""
    worst = 0.0
    _rows[name] = []
    for label, method, coordinates in fixed(**EXACT):
        errors = [errors_of(method, coordinates, h, device) for h in steps]
        order = observed_order(errors)
        worst = max(worst, abs(order - method.order))
        _rows[name].append(
            {"method": label, **{f"h = {h:g}": e for h, e in zip(steps, errors, strict=True)}, "order": order}
        )
    return worst


# a rod ------------------------------------------------------------------------------------------------


def rod_order(device: str) -> float:
    """Uniform rod released horizontal: axial 5/2 m g sin θ, transverse m g cos θ / 4, θ below horizontal.

    Energy gives θ̇² = 3 g sin θ / l, the moment about the pivot θ̈ = 3 g cos θ / 2 l, and Newton's law for
    the centre at l / 2 the two forces. θ(t) by elliptic functions; over the half swing to the other side.
    """
    return orders("rod-reaction-order", _rod_error, device)


def _rod_error(method: Any, coordinates: str, h: float, device: str) -> float:
    from scipy.special import ellipk

    omega = math.sqrt(1.5 * G)
    half_swing = 2 * ellipk(0.5) / omega
    world = World(pendulum(angle=math.pi / 2), method, coordinates, dt=h, device=device)
    worst = 0.0
    for _ in range(20):
        world.step(round(half_swing / 20 / h))
        phi = swing(world.time, math.pi / 2, omega)  # off the vertical: θ = π/2 - φ
        along = np.array([-math.sin(phi), 0.0, -math.cos(phi)])  # from the pivot to the free end
        across = np.array([-math.cos(phi), 0.0, math.sin(phi)])  # upwards before the lowest point
        exact = G * (-2.5 * math.cos(phi) * along + math.sin(phi) / 4 * across)
        worst = max(worst, float(np.linalg.norm(world.joint("hinge").reaction.force - exact)) / G)
    return worst


# two rods ---------------------------------------------------------------------------------------------


def double_pendulum() -> Model:
    """Two uniform rods of 1 m and 1 kg in a line along +x, hinged about y."""
    model = Model("double pendulum")
    upper, lower = (rod(model, f"rod{k}", (k, 0, 0), (k + 1, 0, 0), 1.0) for k in (0, 1))
    model.joint("pivot", "revolute", model.ground, upper, at=(0, 0, 0), axis=(0, 1, 0))
    model.joint("hinge", "revolute", upper, lower, at=(1, 0, 0), axis=(0, 1, 0))
    return model


def two_rods(y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Angular accelerations, and the forces in hinge and pivot [N], of two rods of length 1 and mass 1.

    Angles a, b below the horizontal, s = sin(a - b), c = cos(a - b); Lagrange's equations:

        4/3 ä + c/2 b̈ = 3/2 g cos a - s/2 ḃ²
        c/2 ä + 1/3 b̈ = 1/2 g cos b + s/2 ȧ²

    The hinge carries b's mass times its centre's acceleration less g, the pivot that of both. At release
    from a = b = 0: ä = 9/7 g, b̈ = -3/7 g, hinge -g/14 and pivot 2g/7 upwards.
    """
    a, b, da, db = y
    s, c = math.sin(a - b), math.cos(a - b)
    right = (1.5 * G * math.cos(a) - s / 2 * db**2, 0.5 * G * math.cos(b) + s / 2 * da**2)
    dda, ddb = np.linalg.solve([[4 / 3, c / 2], [c / 2, 1 / 3]], right)

    def tip(angle: float, rate: float, change: float) -> np.ndarray:
        """Acceleration of a rod's end relative to its start; x along +x, z upwards."""
        out = np.array([math.cos(angle), 0.0, -math.sin(angle)])
        turn = np.array([-math.sin(angle), 0.0, -math.cos(angle)])
        return change * turn - rate**2 * out

    upper, lower = tip(a, da, dda), tip(b, db, ddb)
    hinge = upper + lower / 2 + (0, 0, G)
    return np.array([dda, ddb]), hinge, hinge + upper / 2 + (0, 0, G)


def double_pendulum_order(device: str) -> float:
    """Forces in hinge and pivot over 0.5 s from release, against the equations of `two_rods`."""
    return orders("double-pendulum-reaction-order", _two_rods_error, device)


def _two_rods_error(method: Any, coordinates: str, h: float, device: str) -> float:
    from scipy.integrate import solve_ivp

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[2:], two_rods(y)[0]])

    times = 0.05 * np.arange(1, 11)
    path = solve_ivp(rates, (0, times[-1]), np.zeros(4), "DOP853", times, rtol=1e-11, atol=1e-12).y.T
    world = World(double_pendulum(), method, coordinates, dt=h, device=device)
    worst = 0.0
    for y in path:
        world.step(round(0.05 / h))
        _, hinge, pivot = two_rods(y)
        for name, exact in (("hinge", hinge), ("pivot", pivot)):
            worst = max(worst, float(np.linalg.norm(world.joint(name).reaction.force - exact)) / G)
    return worst


def double_pendulum_release(device: str) -> float:
    """The first step from horizontal at h = 1e-4: 2/7 m g in the pivot, -1/14 m g in the hinge, upwards.

    Nothing moves yet. Rows act in the pose at the start: simmc errs by the solver's tolerance. A tree
    joint carries the change of momenta, and those at the end of the step have turned with the rods by
    ä h² and b̈ h²: along the rods that is (3/2 ä² + b̈²/2) h² = 18/7 m g · g h² / l in the pivot.
    """
    name = "double-pendulum-release"
    _rows[name] = []
    worst = 0.0
    for label, method, coordinates in fixed(**EXACT):
        world = World(double_pendulum(), method, coordinates, dt=1e-4, device=device)
        world.step()
        row: dict[str, object] = {"method": label}
        for joint, exact in (("pivot", 2 / 7), ("hinge", -1 / 14)):
            force = world.joint(joint).reaction.force / G
            row[f"{joint} [m g]"] = float(force[2])
            error = float(np.linalg.norm(force - (0, 0, exact)))
            row[f"{joint} error"] = error
            worst = max(worst, error)
        _rows[name].append(row)
    return worst


# a truss ----------------------------------------------------------------------------------------------


def truss(angle: float, load: float) -> Model:
    """Two bars of 1 g rising at an angle to a common pin, loaded downwards there; no gravity."""
    model = Model("truss", gravity=(0, 0, 0))
    foot, top = math.cos(angle), math.sin(angle)
    left = rod(model, "left", (-foot, 0, 0), (0, 0, top), 1e-3)
    right = rod(model, "right", (foot, 0, 0), (0, 0, top), 1e-3)
    model.joint("left foot", "revolute", model.ground, left, at=(-foot, 0, 0), axis=(0, 1, 0))
    model.joint("right foot", "revolute", model.ground, right, at=(foot, 0, 0), axis=(0, 1, 0))
    model.joint("pin", "revolute", left, right, at=(0, 0, top), axis=(0, 1, 0))
    model.load("weight", left, force=(0, 0, -load), at=(0, 0, top))
    return model


def static_truss(device: str) -> float:
    """Bars carry P / (2 sin α): the forces on the bars at both feet and at the pin, relative to that."""
    name = "truss"
    _rows[name] = []
    worst, load = 0.0, 100.0
    for label, method, coordinates in variants(**EXACT):
        for angle in (math.radians(30), math.radians(45), math.radians(70)):
            bar = load / (2 * math.sin(angle))
            along = bar * np.array([math.cos(angle), 0.0, math.sin(angle)])
            world = World(truss(angle, load), method, coordinates, dt=0.01, device=device)
            world.step(100)
            mirror = along * (-1, 0, 1)
            exact = {"left foot": along, "right foot": mirror, "pin": -mirror}
            # the load acts on the left bar, so the pin hands the right bar its share
            errors = {
                joint: float(np.linalg.norm(world.joint(joint).reaction.force - force)) / bar
                for joint, force in exact.items()
            }
            worst = max(worst, *errors.values())
            _rows[name].append({"method": label, "α [deg]": round(math.degrees(angle)), "bar [N]": bar, **errors})
    return worst


# momentum ---------------------------------------------------------------------------------------------

MOVING: dict[str, list[tuple[dict, float, float]]] = {  # parameters, step and time that make a scene move [s]
    "ten-pendula": [({"start": "30deg", "hand": True}, 0.005, 3.5)],
    "cross-lift": [({"case": "hand"}, 0.002, 1.3), ({"case": "load"}, 0.005, 2.2)],
    "five-link": [({"friction": 0.0}, 0.002, 0.5), ({"friction": 0.02}, 0.002, 0.5)],
    "chain": [({"start": "horizontal"}, 0.002, 0.3)],
}


def momentum_balance(device: str) -> float:
    """Σ ground reactions + springs to ground + hands + loads + weights = d/dt Σ m v, relative to weight + inertia.

    Over the step for methods of a fixed step. At its end, with d/dt v the acceleration there, for those that
    control their error, but for friction: impulses of sub-steps have no instant. Of mechanisms without contact, fluid
    and tyres: what these give is in tests/physics/test_contact.py, test_fluid.py and test_tyres.py.
    """
    name = "momentum-balance"
    _rows[name] = []
    worst = 0.0
    for scene_name in SCENES:
        model = scene(scene_name)
        if model.materials or model.fluids or model.tyres:
            continue
        for parameters, h, until in MOVING.get(scene_name, [({}, 0.002, 0.5)]):
            row: dict[str, object] = {"scene": " ".join([scene_name, *map(str, parameters.values())])}
            for label, method, coordinates in general():
                if method.order > 1 and parameters.get("friction"):
                    row[label] = "-"
                    continue
                world = World(scene(scene_name, **parameters), method, coordinates, dt=h, device=device)
                error = 0.0
                for _ in range(10):
                    world.step(round(until / 10 / h) - 1)
                    error = max(error, _unbalanced(world))
                row[label] = error
                worst = max(worst, error)
            _rows[name].append(row)
    return worst


def _unbalanced(world: World) -> float:
    """One step: what the sum of external forces misses of the change of momentum, relative to both."""
    model, system = world.model, world.system
    instant = world.method.order > 1
    masses = np.array([model.bodies[name].mass for name in system.tree.bodies])
    weight = masses.sum() * model.gravity
    start, t = masses @ world.runner.work.twist.numpy()[:, 0, 3:], world.time
    pulls = {spring.name: _pull(world, spring) for spring in model.springs.values()}
    world.step()
    change = (masses @ world.runner.work.twist.numpy()[:, 0, 3:] - start) / world.dt
    if instant:
        t = world.time
        pulls = {spring.name: _pull(world, spring) for spring in model.springs.values()}
        change = masses @ world.runner.work.a_WB.numpy()[:, 0]
    outside = weight.copy()
    for joint in model.joints.values():
        if "ground" in (joint.first, joint.second):
            outside += (1 if joint.first == "ground" else -1) * world.joint(joint.name).reaction.force
    impulse = world.state.read("impulse")[:, 0]
    for r, slot in enumerate(system.slots):
        if slot.kind == SPRING:
            outside += impulse[r] / world.dt * pulls[slot.name]
    for force in world.hand_forces().values():
        outside += force
    for load in model.loads.values():
        outside += [f(t) if callable(f) else f for f in scalar_profiles(load.force, 3)]
    return float(np.linalg.norm(outside - change) / (np.linalg.norm(weight) + np.linalg.norm(change)))


def _pull(world: World, spring) -> np.ndarray:
    """Direction in which a spring that pushes acts on the mechanism; zero between two bodies."""
    if "ground" not in (spring.first, spring.second):
        return np.zeros(3)
    a, b = (
        point if name == "ground" else world.point(name, point)
        for name, point in ((spring.first, spring.p_PQ), (spring.second, spring.p_CQ))
    )
    return (b - a) / np.linalg.norm(b - a) * (1 if spring.first == "ground" else -1)


# loop and tree ----------------------------------------------------------------------------------------

CUTS = ("O", "A", "B", "C")  # joints of the four-bar


def loop_and_tree(device: str) -> float:
    """Forces in the four-bar cut at each joint in turn against those cut at C, over 0.3 s: order 1.

    In the plane of the mechanism, where they are determinate.
    """
    name = "loop-tree-order"
    _rows[name] = []
    worst = 0.0
    for label, method, coordinates in fixed(**EXACT):
        if coordinates != "generalized":
            continue  # there every joint is a set of rows
        forces = {(cut, h): _four_bar_forces(cut, method, coordinates, h, device) for cut in CUTS for h in STEPS}
        scale = np.abs(forces["C", STEPS[-1]]).max()
        for joint, k in zip(CUTS, range(4), strict=True):
            other = "C" if joint != "C" else "A"
            errors = [float(np.abs(forces[joint, h][:, k] - forces[other, h][:, k]).max() / scale) for h in STEPS]
            order = observed_order(errors)
            worst = max(worst, abs(order - method.order))
            _rows[name].append(
                {"method": label, "joint": joint, **{f"h = {h:g}": e for h, e in zip(STEPS, errors, strict=True)}}
                | {"order": order}
            )
    return worst


def _four_bar_forces(cut: str, method: Any, coordinates: str, h: float, device: str) -> np.ndarray:
    """Forces in the plane [time, joint, 2] of the four-bar whose loop is closed by one joint [N]."""
    model = scene("four-bar")
    model.joints[cut] = replace(model.joints[cut], loop=True)
    world = World(model, method, coordinates, dt=h, device=device)
    found = []
    for _ in range(6):
        world.step(round(0.05 / h))
        found.append([world.joint(joint).reaction.force[:2] for joint in CUTS])
    return np.array(found)


def controlled_error(device: str) -> float:
    """Forces of rod, double pendulum and four-bar by methods with error control, at h = 0.01: worst error / weight.

    The four-bar has no closed form: its cuts are compared with each other. A tolerance of 1e-10 on the
    state's error in a sub-step grows over some hundred sub-steps, and forces go with the state's squares.
    """
    name = "reactions-controlled"
    _rows[name] = []
    for label, method, coordinates in controlled(**EXACT):
        cuts = [_four_bar_forces(cut, method, coordinates, 0.01, device) for cut in CUTS]
        weight = G * sum(body.mass for body in scene("four-bar").bodies.values())
        _rows[name].append(
            {
                "method": label,
                "rod": _rod_error(method, coordinates, 0.005, device),
                "double pendulum": _two_rods_error(method, coordinates, 0.01, device),
                "four-bar, cut elsewhere": float(np.abs(np.array(cuts) - cuts[0]).max() / weight),
            }
        )
    return max(value for row in _rows[name] for value in row.values() if isinstance(value, float))


CASES = [
    Case(
        "rod-reaction-order",
        "a rod released horizontal: 5/2 m g sin θ along, m g cos θ / 4 across; converges with the method's order",
        0.1,
        "1",
        rod_order,
        show=show("rod-reaction-order"),
    ),
    Case(
        "double-pendulum-reaction-order",
        "double pendulum from horizontal: forces in both joints converge with the method's order",
        0.1,
        "1",
        double_pendulum_order,
        show=show("double-pendulum-reaction-order"),
    ),
    Case(
        "double-pendulum-release",
        "double pendulum at release: 2/7 m g in the pivot, -1/14 m g in the hinge; to 18/7 g h² / l at h = 1e-4 s",
        1.001 * 18 / 7 * G * 1e-8,
        "1",
        double_pendulum_release,
        show=show("double-pendulum-release"),
    ),
    Case("truss", "two bars carry P / (2 sin α) each, at feet and pin", 1e-9, "1", static_truss, show=show("truss")),
    Case(
        "momentum-balance",
        "ground reactions + springs + hands + loads + weights = rate of change of momentum, every scene and method",
        1e-9,
        "1",
        momentum_balance,
        show=show("momentum-balance"),
    ),
    Case(
        "loop-tree-order",
        "a joint's force is the same as loop and as tree joint up to the method's order (four-bar)",
        0.1,
        "1",
        loop_and_tree,
        show=show("loop-tree-order"),
    ),
    Case(
        "reactions-controlled",
        "forces of rod, double pendulum and four-bar by methods with error control, rtol = 1e-10, h = 0.01 s",
        1e-7,
        "1",
        controlled_error,
        show=show("reactions-controlled"),
    ),
]
