"""The engine's kernel frozen with a world's arrays: C and C++ that give the engine's bits."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.author.errors import ModelError
from impulsar.cli import main
from impulsar.engine import indices
from impulsar.io.export.c import FAST, object_files, portable_files
from impulsar.io.export.frozen import Frozen, freeze
from impulsar.io.export.kernels import kernel_text
from impulsar.scenes import OWN

needs_gcc = pytest.mark.skipif(not shutil.which("g++"), reason="no C++ compiler")
STRICT = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror")


class Built:
    """A frozen world as a library, and one mechanism of it."""

    def __init__(self, world: im.World, folder: Path, form: str = "c", level: str = "x86-64-v3", flags: tuple = ()):
        self.frozen: Frozen = freeze(world)
        n = self.frozen.name
        files = object_files(self.frozen, level) if form == "c" else portable_files(self.frozen)
        for name, data in files.items():
            (folder / name).write_bytes(data)
        tools = {"c": ["gcc", *STRICT, f"{n}.c", f"{n}_kernel.o"], "cpp": ["g++", "-std=c++17", "-w", f"{n}.cpp"]}
        library = folder / f"{n}_{form}.so"
        command = [*tools[form], "-O2", "-ffp-contract=off", *flags, "-shared", "-fPIC", "-Wl,--no-undefined", "-lm"]
        subprocess.run([*command, "-o", str(library)], check=True, cwd=folder)
        self.library = ctypes.CDLL(str(library))
        self.model, self.inputs = self.memory(), np.zeros(max(1, len(self.frozen.inputs)))
        self.call("start", self.model, self.inputs)

    def memory(self) -> np.ndarray:
        return np.zeros(len(self.frozen.image.words) + len(self.frozen.states))

    def call(self, what: str, *given: np.ndarray | float | None) -> int:
        taken = [
            one.ctypes.data_as(ctypes.c_void_p) if isinstance(one, np.ndarray) else one and ctypes.c_double(one)
            for one in given
        ]
        return getattr(self.library, f"{self.frozen.name}_{what}")(*taken)

    def step(self) -> int:
        return self.call("step", self.model, self.inputs)

    def state(self, model: np.ndarray | None = None) -> np.ndarray:
        x = np.zeros(len(self.frozen.states))
        self.call("get", self.model if model is None else model, x)
        return x

    def read(self) -> dict[str, float]:
        """Outputs by what they are."""
        out = np.zeros(len(self.frozen.outputs))
        assert self.call("read", self.model, out) == 0
        return {port.told: value for port, value in zip(self.frozen.outputs, out, strict=True)}


def bits(values: np.ndarray) -> bytes:
    return np.ascontiguousarray(values, float).tobytes()


def beside(world: im.World, built: Built, steps: int) -> None:
    sensors = world.runner.state.rows["sensor"]  # which C leaves out
    for k in range(steps):
        world.step()
        assert built.step() == 0
        if k % 50 == 0 or k == steps - 1:
            mine, theirs = built.state(), world.runner.state.numpy()[:, 0].copy()
            mine[sensors] = theirs[sensors] = 0.0
            assert bits(mine) == bits(theirs), k


def driven() -> im.Model:
    """A pendulum with a torque motor, a spring, a load and a ball joint to a second rod."""
    model = im.Model("driven")
    arm = model.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.01), position=(0, 0, -0.5))
    model.joint("pivot", "revolute", model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), motor=im.Motor(torque=0.5))
    fore = model.body("fore", mass=0.5, inertia=(0.05, 0.05, 0.005), position=(0, 0, -1.5))
    model.joint("ball", "spherical", arm, fore, at=(0, 0, -1))
    model.spring("return", arm, model.ground, at_a=(0, 0, -1), at_b=(1, 0, -1), stiffness=20.0, damping=0.5)
    model.load("push", fore, force=(0.1, 0.2, 0.0))
    return model


def summed() -> im.Model:
    """Five bars in a row, the sum of whose angles is held: in maximal coordinates one row over five bodies."""
    model = im.Model("summed")
    for k in range(5):
        model.body(f"bar {k}", mass=1.0, inertia=(0.01, 0.02, 0.02), position=(k + 0.5, 0, 0))
        model.joint(f"pin {k}", "revolute", f"bar {k - 1}" if k else "ground", f"bar {k}", at=(k, 0, 0), axis=(0, 1, 0))
    model.coupling("level", {f"pin {k}": 1.0 + 0.1 * k for k in range(5)})
    return model


@needs_gcc
@pytest.mark.parametrize("coordinates", ["generalized", "maximal"])
def test_couplings_of_several_joints(coordinates, tmp_path):
    """Bits of a coupling of five joints, frozen."""
    world = im.World(summed(), dt=0.002, coordinates=coordinates)
    beside(world, Built(world, tmp_path), 20)


@needs_gcc
def test_bits_inputs_state_and_parameters(tmp_path):
    """Frozen steps are the engine's to the bit: with inputs that change, after going back, with parameters set."""
    world = im.World(driven(), dt=0.002)
    built = Built(world, tmp_path)
    assert {port.name for port in built.frozen.inputs} == {
        "motor_pivot", *(f"load_push_{what}_{axis}" for what in ("force", "torque") for axis in "xyz")
    }  # fmt: skip
    beside(world, built, 40)
    world.apply(edits.Drive("pivot", 1.5))
    world.set("push.force", (0.0, 0.0, 3.0))
    names = [port.name for port in built.frozen.inputs]
    for name, value in (("motor_pivot", 1.5), ("load_push_force_x", 0), ("load_push_force_y", 0)):
        built.inputs[names.index(name)] = value
    built.inputs[names.index("load_push_force_z")] = 3.0
    beside(world, built, 40)

    found = built.read()
    assert found["pivot"] == world.joint("pivot").position
    assert bits(np.array([found[f"fore position {axis}"] for axis in "xyz"])) == bits(world.body("fore").position)
    assert found["kinetic energy"] == world.energy().kinetic
    assert found["time"] == world.time

    kept, other = built.state(), built.memory()
    built.call("copy", other, built.model)
    for _ in range(20):
        built.step()
    end = built.state()
    assert built.call("set", built.model, kept) == 0
    for _ in range(20):
        built.step()
        assert built.call("step", other, None) == 0
    assert bits(built.state()) == bits(end) == bits(built.state(other))

    built.call("set", built.model, kept)
    values = np.zeros(len(built.frozen.parameters))
    built.call("defaults", values)
    paths = [port.told for port in built.frozen.parameters]
    values[paths.index("arm.mass")], values[paths.index("return.stiffness")] = 1.7, 35.0
    assert built.call("tune", built.model, values) == 0
    world.set("arm.mass", 1.7)
    world.set("return.stiffness", 35.0)
    for _ in range(30):
        world.step()
        built.step()
    found = built.read()
    assert abs(found["pivot"] - world.joint("pivot").position) < 1e-12
    assert abs(found["imbalance"]) < 1e-6
    values[paths.index("arm.mass")] = 0.0
    before = built.state()
    assert built.call("tune", built.model, values) == 3
    values[paths.index("arm.mass")] = np.nan
    assert built.call("tune", built.model, values) == 2
    assert built.call("set", built.model, np.full(len(kept), np.nan)) == 2
    built.inputs[0] = np.inf
    assert built.step() == 2
    assert bits(built.state()) == bits(before)


@needs_gcc
def test_armature_is_frozen(tmp_path):
    """Bits, and armature that is tuned acts as in the engine: q̈ = τ / (I + armature)."""
    model = im.Model("rotor")
    disc = model.body("disc", mass=1.0, inertia=(1.0, 1.0, 2.0))
    model.joint("axle", "revolute", "ground", disc, at=(0, 0, 0), axis=(0, 0, 1), armature=0.5,
                motor=im.Motor(torque=3.0))  # fmt: skip
    world = im.World(model, dt=0.01)
    built = Built(world, tmp_path)
    beside(world, built, 20)
    assert built.read()["axle rate"] == pytest.approx(3.0 / 2.5 * 0.2, rel=1e-13)
    (port,) = (port for port in built.frozen.parameters if port.told == "axle.armature")
    assert port.unit == "kg m²"
    values = np.zeros(len(built.frozen.parameters))
    built.call("defaults", values)
    values[built.frozen.parameters.index(port)] = 1.0
    assert built.call("tune", built.model, values) == 0
    before = built.read()["axle rate"]
    for _ in range(20):
        built.step()
    assert built.read()["axle rate"] - before == pytest.approx(3.0 / 3.0 * 0.2, rel=1e-13)


@needs_gcc
def test_other_steps(tmp_path):
    """A step of another length is made of equal parts: h = 2.5 dt is three of 5/6 dt; 4 dt are four of dt."""
    world = im.World(driven(), dt=0.002)
    built = Built(world, tmp_path)
    assert built.call("advance", built.model, None, 0.008) == 0
    world.step(4)
    assert bits(built.state()) == bits(world.runner.state.numpy()[:, 0])
    assert built.call("advance", built.model, None, 0.005) == 0
    assert abs(built.read()["time"] - 0.013) < 1e-15
    for wrong in (-0.1, float("nan"), 1e12):
        assert built.call("advance", built.model, None, wrong) == 3


@needs_gcc
def test_a_broken_step_leaves_the_state(tmp_path):
    """A step that cannot be taken says so, and the state is as it was."""
    model = driven()
    built = Built(im.World(model, dt=0.002), tmp_path)
    before = built.state()
    built.inputs[0] = 1e300
    assert built.step() == 1
    assert bits(built.state()) == bits(before)


def test_frozen_functions_are_the_engines_own():
    """As they are compiled there, loops and indices plain, also where the engine's kernel came from Warp's cache."""
    kernel = freeze(im.World(driven())).image.calls[0].kernel
    waiting, seen = indices._called(kernel), set()
    while waiting:
        function = waiting.pop()
        if id(function) not in seen:
            seen.add(id(function))
            waiting += indices._called(function)
    assert len(seen) > 100
    kernel_text.cache_clear()
    assert kernel_text((kernel,))
    assert seen <= indices._seen


def test_what_c_has_not_is_refused():
    model = driven()
    model.load("pull", "arm", force=lambda t: (t, 0, 0))
    with pytest.raises(ModelError, match="callables"):
        freeze(im.World(model))
    with pytest.raises(ModelError, match="one world"):
        freeze(im.World(driven(), worlds=2))


def test_command_line_refuses(capsys, tmp_path):
    """Bad input is one line and status 2."""
    for words in (["--to", "c"], ["--to", "cpp", "--out", str(tmp_path / "file" / "x")]):
        (tmp_path / "file").write_text("")
        assert main(["export", "four-bar", *words]) == 2
        assert capsys.readouterr().err.count("\n") == 1


@needs_gcc
@pytest.mark.study
@pytest.mark.parametrize("name", OWN)
def test_all_scenes(name, tmp_path):
    """1,000 steps of every scene without contact to the bit: as an object for three levels, and as C++ by g++."""
    if im.World(im.scene(name)).runner.system.counts.contacts:
        pytest.skip("has contacts")
    forms: list[tuple[str, str, tuple]] = [("c", "x86-64-v3", ()), ("cpp", "", FAST)]
    if name in ("four-bar", "stewart-platform"):
        forms += [("c", "x86-64-v2", ()), ("c", "native", ()), ("cpp", "", ()), ("cpp", "", ("-O3", "-mfma"))]
    for form, level, flags in forms:
        world = im.World(im.scene(name))
        beside(world, Built(world, tmp_path, form, level, flags), 1000)


@needs_gcc
@pytest.mark.study
@pytest.mark.skipif(not shutil.which("valgrind"), reason="no valgrind")
@pytest.mark.parametrize("scene", ["cross-lift", "five-link", "peaucellier"])
def test_valgrind(scene, tmp_path):
    """The example reads and writes nothing that is not its own: redundant loops, friction with its events, a motor."""
    name = scene.replace("-", "_")
    assert main(["export", scene, "--to", "c", "--out", str(tmp_path), "--dt", "0.001"]) == 0
    subprocess.run(
        ["gcc", "-g", f"{name}_main.c", f"{name}.c", f"{name}_kernel.o", "-lm", "-o", "run"], check=True, cwd=tmp_path
    )
    command = ["valgrind", "-q", "--error-exitcode=9", "--leak-check=full", "./run", "0.05"]
    told = subprocess.run(command, check=True, cwd=tmp_path, capture_output=True, text=True).stdout
    assert "woken late" in told and "50 ticks" in told
