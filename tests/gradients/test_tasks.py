"""Tasks in batches: numbers with a closed form are found, bad designs are no error, and what is found is kept."""

import math

import numpy as np
import pytest

import impulsar as im
from impulsar.author.errors import ModelError
from impulsar.edits import Drive
from impulsar.optimise import tune

INERTIA, SPEED, TIME = 0.1, 4.0, 0.5


def rotor() -> im.Model:
    model = im.Model("rotor", gravity=(0, 0, 0))
    body = model.body("rotor", 1.0, inertia=(INERTIA,) * 3, angular_velocity=(0, 0, SPEED))
    model.joint(
        "axle", "revolute", "ground", body, at=(0, 0, 0), axis=(0, 0, 1), damping=0.1, motor=im.Motor(torque=0.0)
    )
    return model


def half_the_speed(world: im.World, values: dict[str, np.ndarray]) -> np.ndarray:
    world.step(round(TIME / world.dt))
    return (np.ravel(world.joint("axle").velocity) - SPEED / 2.0) ** 2


def test_a_damping_is_found_in_batches() -> None:
    """ω(T) = ω₀ exp(-d T / J) is half of ω₀ where d = J ln 2 / T."""
    seen: list[float] = []
    found = tune(
        rotor(),
        {"axle.damping": (0.0, 2.0)},
        half_the_speed,
        generations=6,
        watch=lambda values, loss: seen.append(loss),
        dt=0.01,
    )
    assert found.values["axle.damping"] == pytest.approx(INERTIA * math.log(2.0) / TIME, rel=1e-3)
    assert seen == sorted(seen, reverse=True) and seen[-1] == found.loss and found.failed == 0


def test_a_gain_is_told_to_the_measure_and_bad_designs_are_bad_values() -> None:
    """A torque u for the time T brings ω₀ + u T / J; masses below nothing are refused by the model, one by one."""

    def measure(world: im.World, values: dict[str, np.ndarray]) -> np.ndarray:
        push = values["push"]
        world.apply(Drive("axle", push if world.worlds > 1 else float(push[0])))
        return half_the_speed(world, values)

    found = tune(
        rotor(), {"push": (-2.0, 2.0), "rotor.mass": (-1.0, 1.0)}, measure, designs=8, generations=4, polish=6, dt=0.01
    )
    assert found.failed > 0 and "rotor.mass" in found.why and found.values["rotor.mass"] > 0.0
    d = 0.1  # damping: ω(T) = u/d + (ω₀ - u/d) exp(-d T / J)
    fade = math.exp(-d * TIME / INERTIA)
    expected = d * SPEED * (0.5 - fade) / (1.0 - fade)
    assert found.values["push"] == pytest.approx(expected, abs=0.02)


def test_ctrl_c_keeps_the_best_so_far_and_nonsense_is_refused() -> None:
    calls = []

    def measure(world: im.World, values: dict[str, np.ndarray]) -> np.ndarray:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return np.abs(values["x"] - 0.3)

    found = tune(rotor(), {"x": (0.0, 1.0)}, measure)
    assert found.ended == "ended by Ctrl-C" and found.loss == abs(found.values["x"] - 0.3) < 0.1
    with pytest.raises(ModelError, match="the range of 'x'"):
        tune(rotor(), {"x": (1.0, 0.0)}, measure)
    with pytest.raises(ModelError, match="no design runs"):
        tune(rotor(), {"rotor.mass": (-2.0, -1.0)}, half_the_speed, generations=1, designs=5)
