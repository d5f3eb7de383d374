"""Friction and limits by modes: times, places and forces of their changes against closed forms and a fine reference."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import impulsar as im

G = 9.81


def bouncer(restitution: float = 0.8, mass: float = 1.0) -> im.Model:
    """A mass that falls by 1 m along a slide onto its limit."""
    model = im.Model("bouncer", gravity=(0.0, 0.0, -G))
    model.body("mass", mass=mass, inertia=(1.0, 1.0, 1.0), position=(0.0, 0.0, 1.0))
    bounds = {"limits": (-1.0, np.inf), "limit_restitution": restitution}
    model.joint("slide", "prismatic", "ground", "mass", at=(0.0, 0.0, 1.0), axis=(0.0, 0.0, 1.0), **bounds)
    return model


def bounces(t: float, restitution: float) -> tuple[float, float, int]:
    """Height above the limit, speed and bounces so far of a mass that fell by 1 m, by the closed form."""
    v = np.sqrt(2 * G)
    left, n = t - v / G, 0
    if left < 0:
        return 1.0 - G * t * t / 2, -G * t, 0
    while True:
        v *= restitution
        n += 1
        flight = 2 * v / G
        if left < flight or flight < 1e-9:
            return max(v * left - G * left * left / 2, 0.0), v - G * left, n
        left -= flight


@pytest.mark.parametrize("restitution", [0.0, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("mass", [1e-3, 1.0, 1e3])
def test_times_of_impacts(restitution, mass):
    """Of the first 20 bounces that are longer than 1e-4 s, to 1e-9 s: an error of the time shows as speed times it."""
    world = im.World(bouncer(restitution, mass), dt=0.01)
    for _ in range(400):
        world.step()
        height, speed, n = bounces(world.time, restitution)
        impact = np.sqrt(2 * G) * restitution ** max(n - 1, 0)
        if 0 < n <= 20 and 2 * restitution * impact / G > 1e-4:
            assert abs(world.body("mass").position[2] - height) < 1e-9 * max(impact, abs(speed))
    assert abs(world.energy().imbalance) < 1e-11 * mass * G


def test_bounces_without_end_come_to_rest():
    """They end at 4.064 s by the closed form, and after it the mass lies there with its weight on the limit."""
    world = im.World(bouncer(0.8), dt=0.01)
    world.step(450)
    assert world.body("mass").position[2] == pytest.approx(0.0, abs=1e-12)
    world.step(6000)
    assert world.body("mass").position[2] == pytest.approx(0.0, abs=1e-12)
    assert world.body("mass").velocity[2] == 0.0
    assert world.joint("slide").reaction.force[2] == pytest.approx(G, rel=1e-9)


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_block_up_an_incline_stops_and_holds(coordinates):
    """By constant deceleration, at rest from v / a on, and never again in motion."""
    slope, mu, mass, v = 0.5, 0.6, 2.0, 3.0
    model = im.Model("incline", gravity=(-G * np.sin(slope), 0.0, -G * np.cos(slope)))
    model.body("block", mass=mass, inertia=(1.0, 1.0, 1.0), velocity=(v, 0.0, 0.0))
    bound = mu * mass * G * np.cos(slope)
    model.joint("slide", "prismatic", "ground", "block", at=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0), friction=bound)
    world = im.World(model, "direct", coordinates, dt=0.01)
    a = G * (np.sin(slope) + mu * np.cos(slope))
    stop = v / a
    n = int(stop / 0.01)
    world.step(n)
    left = v - a * world.time  # what is left of the speed before the stop says when it comes
    assert abs(world.body("block").velocity[0] - left) / a < 1e-9
    world.step(1)
    assert world.body("block").position[0] == pytest.approx(v * stop / 2, abs=1e-9)
    world.step(6000)
    assert world.body("block").position[0] == pytest.approx(v * stop / 2, abs=1e-9)
    assert world.energy().imbalance == pytest.approx(0.0, abs=1e-10)


def rubbed_pendulum() -> im.Model:
    model = im.Model("pendulum", gravity=(0.0, 0.0, -G))
    model.body("bob", mass=1.0, inertia=(1e-3,) * 3, position=(0.5 * np.sin(1.0), 0.0, -0.5 * np.cos(1.0)))
    model.joint("pin", "revolute", "ground", "bob", at=(0.0, 0.0, 0.0), axis=(0.0, -1.0, 0.0), friction=0.15)
    return model


def smooth_pieces(rate, stops, y, t, until):
    """Pieces (end, state by time) of a motion that changes its law where `stops` says; `rate(way)` gives the next."""
    pieces = []
    while t < until:
        law = rate(t, y)
        if law is None:
            break
        event = stops(t, y)
        event.terminal = True
        span = (t, until)
        found = solve_ivp(law, span, y, "DOP853", events=event, rtol=1e-13, atol=1e-14, dense_output=True)
        t, y = found.t[-1], found.y[:, -1]
        pieces.append((t, found.sol))
    return pieces, t, y


@pytest.mark.parametrize(("tolerance", "allowed"), [(1e-7, 1e-6), (1e-9, 1e-8)])
def test_half_swings_of_a_pendulum_with_dry_friction(tolerance, allowed):
    """Every half swing against a fine reference, and it stops in the one where friction holds it."""
    inertia, bound = 0.25 + 1e-3, 0.15

    def rate(t, y):
        pull = -G * 0.5 * np.sin(y[0])
        if abs(pull) <= bound:
            return None
        way = np.sign(pull)
        return lambda t, y: [y[1], (-G * 0.5 * np.sin(y[0]) - way * bound) / inertia]

    def stops(start, y):
        way = np.sign(-np.sin(y[0]))
        return lambda t, y: way * y[1] if t > start + 1e-3 else 1.0

    pieces, stop, last = smooth_pieces(rate, stops, np.array([1.0, 0.0]), 0.0, 20.0)
    assert len(pieces) > 6
    world = im.World(rubbed_pendulum(), dt=0.01, rtol=tolerance, atol=tolerance)
    start, k = world.joint("pin").position - 1.0, 0
    while world.time < stop + 2.0:
        world.step()
        while k < len(pieces) and pieces[k][0] < world.time:
            k += 1
        angle = last[0] if k == len(pieces) else pieces[k][1](world.time)[0]
        assert world.joint("pin").position - start == pytest.approx(angle, abs=allowed)
    assert abs(world.joint("pin").velocity) < 1e-30  # 0 on the CPU, 2e-36 where a device fuses products and sums


@pytest.mark.parametrize(("static", "sliding"), [(0.5, 0.4), (0.4, 0.4), (0.6, 0.1)])
def test_mass_on_a_belt(static, sliding):
    """Sticks to the belt until its spring pulls more than static friction, then slips back: times to 1e-6 s.

    In slip it is an oscillator about a shifted rest, in closed form: it sticks again when its speed is the belt's.
    """
    mass, k, belt = 1.0, 40.0, 0.2
    weight = mass * G
    model = im.Model("belt")
    for name in ("belt", "mass"):
        model.body(name, mass=mass, inertia=(1.0, 1.0, 1.0), velocity=(belt, 0.0, 0.0))
    x = (1.0, 0.0, 0.0)
    model.joint("drive", "prismatic", "ground", "belt", at=(0.0, 0.0, 0.0), axis=x, motor=im.Motor(speed=belt))
    bounds = {"friction": sliding * weight, "static_friction": static * weight}
    model.joint("rub", "prismatic", "belt", "mass", at=(0.0, 0.0, 0.0), axis=x, **bounds)
    model.spring("spring", "ground", "mass", (-10.0, 0.0, 0.0), (0.0, 0.0, 0.0), stiffness=k, free_length=10.0)
    world = im.World(model, dt=0.01)
    omega, rest = np.sqrt(k / mass), sliding * weight / k
    slip_at = static * weight / k  # where it begins to slip
    t = slip_at / belt
    changes = []  # (time, what it does from then on)
    amplitude = np.hypot(slip_at - rest, belt / omega)
    phase = np.arctan2(belt / omega, slip_at - rest)  # x = rest + amplitude cos(omega t - phase)
    while t < 10.0 and static > sliding:
        changes.append((t, "slip"))
        t += (np.pi + 2 * phase) / omega  # its speed is the belt's again, on the other branch of the sine
        changes.append((t, "stick"))
        place = rest + amplitude * np.cos(omega * (t - changes[-2][0]) - phase)
        t += (slip_at - place) / belt
    begun, place, law, n = 0.0, 0.0, "stick", 0
    for _ in range(1000):
        world.step()
        while n < len(changes) and changes[n][0] <= world.time:
            if law == "slip":
                place = rest + amplitude * np.cos(omega * (changes[n][0] - begun) - phase)
            begun, law = changes[n]
            n += 1
        if static == sliding and world.time > t:
            expected = rest + amplitude * np.cos(omega * (world.time - t) - phase)
        elif law == "slip":
            expected = rest + amplitude * np.cos(omega * (world.time - begun) - phase)
        else:
            expected = place + belt * (world.time - begun)
        assert world.body("mass").position[0] == pytest.approx(expected, abs=1e-6 * belt)
    assert world.energy().imbalance == pytest.approx(0.0, abs=1e-8)


def test_five_link_with_friction_converges_with_the_tolerance():
    """Order 5 through its friction: what is left falls with rtol, down to 1e-9."""
    ends = []
    for tolerance in (1e-5, 1e-7, 1e-11):
        world = im.World(im.scene("five-link"), dt=0.01, rtol=tolerance, atol=tolerance)
        world.step(300)
        ends.append(np.concatenate([world.body(name).position for name in world.model.bodies]))
    assert np.abs(ends[0] - ends[2]).max() < 2e-6
    assert np.abs(ends[1] - ends[2]).max() < 2e-8


def rubbed_loop(bounds: tuple[float, ...], torque=0.0, gravity=0.0) -> im.Model:
    """A four-bar with friction in all its joints, turned by a torque on the crank; one freedom."""
    model = im.Model("loop", gravity=(0.0, 0.0, -gravity))
    box = {"mass": 1.0, "inertia": (0.02, 0.03, 0.04)}
    y = (0.0, 1.0, 0.0)
    for name, x, z in (("crank", 0.0, 0.1), ("coupler", 0.25, 0.3), ("rocker", 0.5, 0.2)):
        model.body(name, **box, position=(x, 0.0, z))
    ends = [("ground", "crank", 0.0, 0.0), ("crank", "coupler", 0.0, 0.2), ("coupler", "rocker", 0.5, 0.4)]
    ends.append(("rocker", "ground", 0.5, 0.0))
    for k, (first, second, x, z) in enumerate(ends):
        given = {"motor": im.Motor(torque=torque)} if k == 0 else {}
        model.joint(f"j{k}", "revolute", first, second, at=(x, 0.0, z), axis=y, friction=bounds[k], **given)
    return model


@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
@pytest.mark.parametrize("bounds", [(0.3, 0.2, 0.1, 0.4), (1.0, 1e-3, 0.5, 1e-3)])
def test_friction_in_a_loop_holds_and_lets_go_together(bounds, coordinates):
    """A ramp of the torque: the loop moves when its power is more than that of all four bounds, and not before.

    The forces of the four are not determined while they hold, and that must not matter.
    """
    still = im.World(rubbed_loop(bounds), coordinates=coordinates)
    still.step()
    rates = {name: 0.0 for name in still.model.joints}
    probe = im.World(rubbed_loop((0.0,) * 4, torque=1.0), coordinates=coordinates, dt=1e-6)
    probe.step()
    turn = probe.joint("j0").velocity
    for name in rates:
        rates[name] = abs(probe.joint(name).velocity / turn)
    least = sum(bound * rates[f"j{k}"] for k, bound in enumerate(bounds))
    for share, moves in ((0.999, False), (1.001, True)):
        world = im.World(rubbed_loop(bounds, torque=share * least), coordinates=coordinates, dt=0.01)
        start = world.joint("j0").position
        world.step(25)
        moved = abs(world.joint("j0").position - start)
        assert moved > 1e-6 if moves else moved < 1e-13
