"""The ways to break a run of the fault table, each with the law by which its result would be right."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from impulsar.author.model import Model
from impulsar.author.parts import Motor
from impulsar.author.profiles import Table
from impulsar.scenes import scene
from impulsar.scenes.four_bar import CRANK
from impulsar.scenes.four_bar import build as build_four_bar
from impulsar.validate.linkages import bricard, set_rate, tilt
from impulsar.world.world import World

from .faults import Fault, Trial

FAULTS: list[Fault] = []
INERTIA = (0.01, 0.01, 0.01)  # of the blocks and rotors of 1 kg [kg m²]


def plain(size: float) -> str:
    """1e6 for 1000000.0."""
    return f"{size:.0e}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")


def fault(name: str, way: str, law: str = "") -> Callable[[Callable[[Trial], None]], Callable[[Trial], None]]:
    """Enter a way."""

    def enter(run: Callable[[Trial], None]) -> Callable[[Trial], None]:
        FAULTS.append(Fault(name, way, law, run))
        return run

    return enter


def slide(mass: float = 1.0, at: float = 0.0, **features: Any) -> Model:
    """A block on a slide along x, without gravity."""
    model = Model("block", gravity=(0, 0, 0))
    block = model.body("block", mass=mass, inertia=tuple(mass * x for x in INERTIA), position=(at, 0, 0))
    model.joint("slide", "prismatic", model.ground, block, at=(at, 0, 0), axis=(1, 0, 0), **features)
    return model


def rotor(rate: float = 0.0, **features: Any) -> Model:
    """A rotor on a hinge about z, without gravity."""
    model = Model("rotor", gravity=(0, 0, 0))
    body = model.body("rotor", mass=1.0, inertia=INERTIA, angular_velocity=(0, 0, rate))
    model.joint("hinge", "revolute", model.ground, body, at=(0, 0, 0), axis=(0, 0, 1), **features)
    return model


def pendulum(origin: tuple[float, float, float] = (0.0, 0.0, 0.0), gravity: float = 9.81) -> Model:
    """A rod of 1 m and 1 kg released level."""
    model = Model("pendulum", gravity=(0, 0, -gravity))
    x, y, z = origin
    rod = model.body("rod", mass=1.0, inertia=(1 / 12, 1 / 12, 1e-3), position=(x + 0.5, y, z))
    model.joint("hinge", "revolute", model.ground, rod, at=origin, axis=(0, 1, 0))
    return model


def rod_angle(t: float, gravity: float = 9.81) -> float:
    """Angle of the rod released level: θ̈ = (3 g / 2) cos θ [rad]."""
    from scipy.integrate import solve_ivp

    def slope(_: float, y: np.ndarray) -> list[float]:
        return [y[1], 1.5 * gravity * math.cos(y[0])]

    return float(solve_ivp(slope, (0, t), (0.0, 0.0), "DOP853", rtol=1e-12, atol=1e-12).y[0, -1])


def keeps_energy(trial: Trial, world: World, steps: int, scale: float | None = None) -> None:
    """A free mechanism keeps its energy, of its scale or of the largest kinetic energy, with joints closed."""
    start, largest, off = world.energy().total, 0.0, 0.0
    for _ in range(steps):
        trial.step()
        books = world.energy()
        largest, off = max(largest, books.kinetic), max(off, abs(books.total - start))
        trial.expect_closed()
    # one that stood still is wrong
    trial.expect(off if largest > 0.0 else math.inf, 0.0, scale or largest or 1.0)


# loads ------------------------------------------------------------------------------------------------


def loaded_four_bar(force: float) -> Callable[[Trial], None]:
    def run(trial: Trial) -> None:
        model = build_four_bar()
        model.load("pull", "coupler", force=(force, 0, 0))
        world = trial.world(model)
        start, x = world.energy().total, world.body("coupler").position[0]
        most = 0.0
        for _ in range(10):
            trial.step()
            books = world.energy()
            most = max(most, books.kinetic)
            moved = world.body("coupler").position[0] - x
            trial.expect((books.total - start) / force, moved, CRANK)
            trial.expect_closed()
        # it has moved: a force over a hundredth of the crank's length; and swings at about √(F / m l)
        trial.expect(min(most / force, 0.01 * CRANK), 0.01 * CRANK, CRANK)
        trial.expect_followed(world.time * math.sqrt(force / (0.55 * CRANK)))

    return run


for size in (1e6, 1e12, 1e30, 1e80, 1e300):
    told = "energy = force · way of the coupler, of force · crank; joints closed; a step each radian"
    FAULTS.append(Fault(f"load {plain(size)}", f"{plain(size)} N on a four-bar's coupler", told, loaded_four_bar(size)))


def loaded_block(force: float) -> Callable[[Trial], None]:
    def run(trial: Trial) -> None:
        model = slide()
        model.load("pull", "block", force=(force, 0, 0))
        world = trial.world(model)
        trial.step(10)
        trial.expect(world.joint("slide").position, 0.5 * force * world.time**2, 0.005 * force)

    return run


for size in (1e6, 1e20, 1e300):
    text = f"{plain(size)} N on a block of 1 kg on a slide"
    FAULTS.append(Fault(f"block {plain(size)}", text, "x = F t² / 2 m", loaded_block(size)))


@fault("gravity 1e6", "gravity of 1e6 m/s² on a pendulum", "energy kept; a step each radian")
def _(trial: Trial) -> None:
    keeps_energy(trial, trial.world(pendulum(gravity=1e6)), 20)
    trial.expect_followed(0.2 * math.sqrt(1e6))


@fault("gravity 1e308", "gravity of 1e308 m/s² on a pendulum", "energy kept; a step each radian")
def _(trial: Trial) -> None:
    keeps_energy(trial, trial.world(pendulum(gravity=1e308)), 20)
    trial.expect_followed(0.2 * math.sqrt(1e308))


# stiffness --------------------------------------------------------------------------------------------


def ringing(stiffness: float) -> Callable[[Trial], None]:
    def run(trial: Trial) -> None:
        omega = math.sqrt(stiffness)
        world = trial.world(slide(stiffness=stiffness, rest=-1e-3))
        trial.step(10)
        joint = world.joint("slide")
        trial.expect(math.hypot(joint.position + 1e-3, joint.velocity / omega), 1e-3, 1e-3)

    return run


for size in (1e8, 1e12, 1e18):
    text = f"spring of {plain(size)} N/m without damper, 1 kg released 1 mm away"
    FAULTS.append(Fault(f"ringing {plain(size)}", text, "amplitude kept at 1 mm", ringing(size)))


@fault("stiff 1e18", "spring of 1e18 N/m, critically damped, under 10 N", "rests at F / k, of 1e-9 m")
def _(trial: Trial) -> None:
    model = slide(stiffness=1e18, damping=2e9)
    model.load("push", "block", force=(10.0, 0, 0))
    world = trial.world(model)
    trial.step(20)
    trial.expect(world.joint("slide").position, 10.0 / 1e18, 1e-9)
    trial.expect(world.joint("slide").velocity, 0.0, 1e-9)


@fault("damper 1e12", "damper of 1e12 N s/m under 10 N", "x = F t / c")
def _(trial: Trial) -> None:
    model = slide(viscous=1e12)
    model.load("push", "block", force=(10.0, 0, 0))
    world = trial.world(model)
    trial.step(20)
    trial.expect(world.joint("slide").position, 10.0 * world.time / 1e12, 10.0 * world.time / 1e12)


@fault("hand 1e15", "hand of 1e15 N/m, critically damped, pulls a block by 0.1 m", "the block is where the hand is")
def _(trial: Trial) -> None:
    world = trial.world(slide())
    world.grab("block", stiffness=1e15, damping=2 * math.sqrt(1e15)).move((0.1, 0.0, 0.0))
    trial.step(20)
    trial.expect(world.joint("slide").position, 0.1, 0.1)


@fault("no length", "spring of no length and no free length, under 1 N", "x = F / k (1 - cos ωt)")
def _(trial: Trial) -> None:
    model = slide()
    model.spring("point", model.ground, "block", (0, 0, 0), (0, 0, 0), 100.0, free_length=0.0)
    model.load("push", "block", force=(1.0, 0, 0))
    world = trial.world(model)
    trial.step(20)
    trial.expect(world.joint("slide").position, 0.01 * (1 - math.cos(10 * world.time)), 0.01)


@fault("no direction", "spring of 1 m free length whose ends coincide")
def _(trial: Trial) -> None:
    model = slide()
    model.spring("point", model.ground, "block", (0, 0, 0), (0, 0, 0), 100.0, free_length=1.0)
    trial.world(model)
    trial.step(20)


# speed ------------------------------------------------------------------------------------------------


def spinning_body(rate: float, rtol: float | None) -> Callable[[Trial], None]:
    def run(trial: Trial) -> None:
        model = Model("free rotor", gravity=(0, 0, 0))
        spin = rate * np.array([1.0, 0.6, 0.4])
        inertia = np.array([1.0, 2.0, 2.5])
        model.body("rotor", mass=1.0, inertia=tuple(inertia), angular_velocity=spin)
        options = {"rtol": rtol, "atol": rtol} if rtol and trial.method == "direct" else {}
        world = trial.world(model, **options)
        start = world.energy().kinetic
        trial.step(10)
        trial.expect(world.energy().kinetic, start, start)
        trial.expect_followed(0.3 * rate * world.time)

    return run


for size, tolerance in ((1e4, 1e-10), (1e5, None), (1e7, None)):
    text = f"free body of three inertias spinning at {plain(size)} rad/s" + (
        f", rtol {plain(tolerance)}" if tolerance else ""
    )
    FAULTS.append(Fault(f"spin {plain(size)}", text, "energy kept; a step each radian", spinning_body(size, tolerance)))


@fault("top 1e5", "heavy top on a ball at 1e5 rad/s", "energy kept, of 1e-6 of it; spin kept, of itself")
def _(trial: Trial) -> None:
    model = Model("top")
    lean = np.array([math.sin(0.5), 0.0, math.cos(0.5)])
    q = (0.0, math.sin(0.25), 0.0, math.cos(0.25))
    top = model.body(
        "top", mass=1.0, inertia=(0.1, 0.1, 0.02), position=0.5 * lean, orientation=q, angular_velocity=1e5 * lean
    )
    model.joint("tip", "spherical", model.ground, top, at=(0, 0, 0))
    world = trial.world(model)
    start = world.energy().total
    trial.step(10)
    trial.expect(world.energy().total, start, 1e-6 * start)
    trial.expect(np.linalg.norm(world.body("top").angular_velocity), 1e5, 1e5)


@fault("hinge 1e7", "rotor on a hinge at 1e7 rad/s", "angle = ω t, of itself")
def _(trial: Trial) -> None:
    world = trial.world(rotor(1e7))
    trial.step(10)
    trial.expect(world.joint("hinge").position, 1e7 * world.time, 1e7 * world.time)


@fault("motor 1e9", "speed motor of 1e9 rad/s", "angle = ω t, of itself")
def _(trial: Trial) -> None:
    world = trial.world(rotor(1e9, motor=Motor(speed=1e9)))
    trial.step(10)
    trial.expect(world.joint("hinge").position, 1e9 * world.time, 1e9 * world.time)


@fault("limit 1e6", "block meets its limit at 1e6 m/s, no restitution", "rests at the limit")
def _(trial: Trial) -> None:
    model = slide(limits=(-1.0, 1.0))
    model.bodies["block"].velocity = np.array([1e6, 0.0, 0.0])
    world = trial.world(model)
    trial.step(5)
    trial.expect(world.joint("slide").position, 1.0, 1.0)
    trial.expect(world.joint("slide").velocity, 0.0, 1e6)


# masses -----------------------------------------------------------------------------------------------


def unequal_four_bar(bar: str, ratio: float) -> Callable[[Trial], None]:
    def run(trial: Trial) -> None:
        model = build_four_bar()
        body = model.bodies[bar]
        body.mass, body.inertia = ratio * body.mass, ratio * body.inertia
        keeps_energy(trial, trial.world(set_rate(model, "O", 5.0)), 30)

    return run


for bar, ratio in (("coupler", 1e9), ("rocker", 1e9), ("coupler", 1e-9)):
    text = f"four-bar whose {bar} is {plain(ratio)} times as heavy"
    told = "energy kept, of the largest kinetic; joints closed"
    FAULTS.append(Fault(f"{bar} {plain(ratio)}", text, told, unequal_four_bar(bar, ratio)))


@fault("chain 1e9", "hanging chain of five, its end 1e9 times as heavy", "energy kept, of the largest kinetic")
def _(trial: Trial) -> None:
    model = scene("chain", n=5, start="30deg")
    heavy = model.bodies["link5"]
    heavy.mass, heavy.inertia = 1e9 * heavy.mass, 1e9 * heavy.inertia
    keeps_energy(trial, trial.world(model), 20)


@fault("slender", "Bricard's linkage of bars with an axial inertia of 1e-12 kg m²", "energy kept; joints closed")
def _(trial: Trial) -> None:
    model = set_rate(bricard(), "hinge1", 3.0)
    for body in model.bodies.values():
        across = float(body.inertia[0, 0])
        body.inertia = np.diag([across, across, 1e-12])
    keeps_energy(trial, trial.world(model), 50)


@fault("speck", "1 N on a block of 1e-12 kg", "x = F t² / 2 m")
def _(trial: Trial) -> None:
    model = slide(mass=1e-12)
    model.load("push", "block", force=(1.0, 0, 0))
    world = trial.world(model)
    trial.step(10)
    trial.expect(world.joint("slide").position, 0.5e12 * world.time**2, 0.5e12 * world.time**2)


# geometry ---------------------------------------------------------------------------------------------


@fault("tilted 1e-3", "four-bar with axes tilted by 1e-3 rad, more than `redundancy`", "stands still, joints closed")
def _(trial: Trial) -> None:
    world = trial.world(tilt(scene("four-bar"), 1e-3))
    trial.step(20)
    trial.expect(world.joint("O").velocity, 0.0, 1.0)
    trial.expect_closed()


@fault("torn", "a joint whose frames are 1 mm apart")
def _(trial: Trial) -> None:
    model = Model("torn")
    body = model.body("b", mass=1.0, inertia=INERTIA)
    straight = (0.0, 0.0, 0.0, 1.0)
    model.joint("j", "revolute", model.ground, body, frame_a=((1e-3, 0, 0), straight), frame_b=((0, 0, 0), straight))
    trial.world(model)
    trial.step(5)


@fault("just open", "a four-bar's joint 0.9 µm open at the start", "closed after a step; moves as the closed one")
def _(trial: Trial) -> None:
    model = build_four_bar()
    model.joints["B"].p_CM = model.joints["B"].p_CM + np.array([0.0, 0.0, 0.9e-6])
    world, exact = trial.world(model), World(build_four_bar(), rtol=1e-10, atol=1e-10, dt=0.01)
    trial.step(10)
    exact.step(10)
    trial.expect(world.joint("O").position, exact.joint("O").position)
    trial.expect_closed()


@fault("rough start", "a four-bar whose crank alone has a start velocity")
def _(trial: Trial) -> None:
    model = build_four_bar()
    model.bodies["crank"].angular_velocity = np.array([0.0, 0.0, 10.0])
    trial.world(model)


@fault("far away", "pendulum at 1e9 m from the origin", "swings as at the origin, by its angle")
def _(trial: Trial) -> None:
    world = trial.world(pendulum((1e9, 0.0, 0.0)))
    trial.step(50)
    trial.expect(world.joint("hinge").position, rod_angle(world.time))


@fault("hundred hinges", "a door on a hundred hinges of one axis", "swings as on one")
def _(trial: Trial) -> None:
    model = pendulum()
    for k in range(99):
        model.joint(f"hinge {k}", "revolute", model.ground, "rod", at=(0, 0.01 * (k + 1), 0), axis=(0, 1, 0))
    world = trial.world(model)
    trial.step(10)
    trial.expect(world.joint("hinge").position, rod_angle(world.time))
    trial.expect_closed()


# motors and couplings -----------------------------------------------------------------------------------


@fault("locked motor", "speed motor on a hinge of a triangle, which cannot turn")
def _(trial: Trial) -> None:
    model = Model("triangle", gravity=(0, 0, 0))
    a = model.body("a", mass=1.0, inertia=INERTIA, position=(0, 0.5, 0))
    b = model.body("b", mass=1.0, inertia=INERTIA, position=(0.5, 0.5, 0))
    model.joint("A", "revolute", model.ground, a, at=(0, 0, 0), axis=(0, 0, 1), motor=Motor(speed=1.0))
    model.joint("B", "revolute", a, b, at=(0, 1, 0), axis=(0, 0, 1))
    model.joint("C", "revolute", model.ground, b, at=(1, 0, 0), axis=(0, 0, 1))
    trial.world(model)
    trial.step(5)


@fault("motors at odds", "two speed motors in one four-bar, 1 rad/s and 5 rad/s")
def _(trial: Trial) -> None:
    model = build_four_bar()
    for name, rate in (("O", 1.0), ("C", 5.0)):
        model.joints[name].features["angle"].motor = Motor(speed=rate)
    trial.world(model)
    trial.step(5)


@fault("gear 1e12", "coupling of ratio 1e12, 1e12 N m on the slow side", "fast angle = τ r t² / 2 I (1 + r²)")
def _(trial: Trial) -> None:
    model = rotor()
    other = model.body("other", mass=1.0, inertia=INERTIA, position=(1, 0, 0))
    model.joint("fast", "revolute", model.ground, other, at=(1, 0, 0), axis=(0, 0, 1))
    model.coupling("gear", "hinge", "fast", ratio=1e12)
    model.load("twist", "rotor", torque=(0, 0, 1e12))
    world = trial.world(model)
    trial.step(10)
    exact = 0.5 * 1e24 * world.time**2 / (0.01 * (1.0 + 1e24))
    trial.expect(world.joint("fast").position, exact, exact)


@fault("gears at odds", "two couplings of one pair of joints, ratios 2 and 3, 1 N m", "both stand still")
def _(trial: Trial) -> None:
    model = rotor()
    other = model.body("other", mass=1.0, inertia=INERTIA, position=(1, 0, 0))
    model.joint("second", "revolute", model.ground, other, at=(1, 0, 0), axis=(0, 0, 1))
    model.coupling("gear 2", "hinge", "second", ratio=2.0)
    model.coupling("gear 3", "hinge", "second", ratio=3.0)
    model.load("twist", "rotor", torque=(0, 0, 1.0))
    world = trial.world(model)
    trial.step(10)
    trial.expect((world.joint("hinge").position, world.joint("second").position), 0.0)


@fault("motor jump", "position motor of 20 N whose target jumps by 1 m", "x ≤ F t² / 2 m and books, by a tenth")
def _(trial: Trial) -> None:
    model = slide(motor=Motor(position=Table((0.0, 0.05, 0.05), (0.0, 0.0, 1.0)), max_torque=20.0))
    world = trial.world(model)
    trial.step(10)
    reach, kinetic = 1.1 * 10.0 * 0.05**2, 0.5  # a weak motor acts by impulses, which is of order 1
    trial.expect(max(float(world.joint("slide").position), reach), reach, reach)
    trial.expect(max(abs(world.energy().imbalance), 0.1 * kinetic), 0.1 * kinetic, kinetic)


@fault("friction 1e12", "Coulomb friction of 1e12 N, 1e6 N push", "it stays")
def _(trial: Trial) -> None:
    model = slide(friction=1e12)
    model.load("push", "block", force=(1e6, 0, 0))
    world = trial.world(model)
    trial.step(10)
    trial.expect(world.joint("slide").position, 0.0)


# steps and tolerances -----------------------------------------------------------------------------------


@fault("dt 1e3", "pendulum with a step of 1000 s", "energy kept, of m g l; a step each radian")
def _(trial: Trial) -> None:
    keeps_energy(trial, trial.world(pendulum(), dt=1e3), 1, 9.81)
    trial.expect_followed(1e3 * math.sqrt(1.5 * 9.81))


@fault("dt 1e-9", "block under 1 N, a thousand steps of 1 ns", "x = F t² / 2 m")
def _(trial: Trial) -> None:
    model = slide()
    model.load("push", "block", force=(1.0, 0, 0))
    world = trial.world(model, dt=1e-9)
    trial.step(1000)
    trial.expect(world.joint("slide").position, 0.5 * 1e-12, 0.5 * 1e-12)


@fault("dt nan", "a step of nan s")
def _(trial: Trial) -> None:
    trial.world(slide(), dt=math.nan)
    trial.step()


@fault("rtol 1e-15", "rtol and atol of 1e-15 on ten pendula", "energy kept, of 2.45 J")
def _(trial: Trial) -> None:
    options = {"rtol": 1e-15, "atol": 1e-15} if trial.method == "direct" else {}
    keeps_energy(trial, trial.world(scene("ten-pendula", start="30deg"), **options), 10, 2.4525)


@fault("budget 1e-9", "ten pendula with a budget of 1 ns a step", "energy kept, of 2.45 J")
def _(trial: Trial) -> None:
    keeps_energy(trial, trial.world(scene("ten-pendula", start="30deg"), budget=1e-9), 50, 2.4525)


# input that is no number, functions that fail -------------------------------------------------------------


def bad_model(change: Callable[[Model], object]) -> Callable[[Trial], None]:
    def run(trial: Trial) -> None:
        model = slide()
        change(model)
        trial.world(model)
        trial.step(5)

    return run


def _set(what: str, value: object) -> Callable[[Model], None]:
    def change(model: Model) -> None:
        setattr(model.bodies["block"], what, value)

    return change


def _motor(**target: Any) -> Callable[[Model], None]:
    def change(model: Model) -> None:
        model.joints["slide"].features["slide"].motor = Motor(**target)

    return change


def _load(force: Any) -> Callable[[Model], object]:
    return lambda model: model.load("push", "block", force=force)


def _gravity(model: Model) -> None:
    model.gravity = np.array([0.0, 0.0, math.inf])


def fails(_: float) -> float:
    """A callable with a bug."""
    raise ZeroDivisionError("a callable's own mistake")


BAD: list[tuple[str, str, Callable[[Model], object]]] = [
    ("nan mass", "a mass of nan", _set("mass", math.nan)),
    ("no mass", "a mass of 0", _set("mass", 0.0)),
    ("nan inertia", "an inertia of nan", _set("inertia", np.full((3, 3), math.nan))),
    ("bad inertia", "an inertia that no body can have", _set("inertia", np.diag([1.0, 1.0, 3.0]))),
    ("nan position", "a position of nan", _set("position", np.array([math.nan, 0.0, 0.0]))),
    ("inf velocity", "a start velocity of inf", _set("velocity", np.array([math.inf, 0.0, 0.0]))),
    ("inf gravity", "gravity of inf", _gravity),
    ("nan load", "a load of nan", _load((math.nan, 0.0, 0.0))),
    ("inf load", "a load of inf", _load((math.inf, 0.0, 0.0))),
    ("nan motor", "a motor speed of nan", _motor(speed=math.nan)),
    ("raising load", "a load's callable that raises", _load((fails, 0.0, 0.0))),
    ("raising motor", "a motor's callable that raises", _motor(speed=fails)),
    ("late failure", "a load's callable that raises after 20 ms",
     _load((lambda t: 1.0 / 0.0 if t > 0.02 else 1.0, 0.0, 0.0))),
    ("nan callable", "a load's callable that returns nan", _load((lambda t: math.nan, 0.0, 0.0))),
    ("inf callable", "a load's callable that returns inf", _load((lambda t: math.inf, 0.0, 0.0))),
    ("nan motor callable", "a position motor's callable that returns nan", _motor(position=lambda t: math.nan)),
    ("short callable", "a load's callable that returns two numbers of three", _load(lambda t: (1.0, 2.0))),
    ("long callable", "a load's callable that returns four numbers", _load(lambda t: (1.0, 2.0, 3.0, 4.0))),
    ("word callable", "a load's callable that returns a word", _load((lambda t: "much", 0.0, 0.0))),
]  # fmt: skip

FAULTS += [Fault(name, way, "", bad_model(change)) for name, way, change in BAD]
