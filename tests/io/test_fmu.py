"""FMUs of frozen worlds, by fmpy: valid, the engine's bits, two at once, states that replay."""

import shutil

import numpy as np
import pytest

import impulsar as im
from impulsar import edits
from impulsar.author.errors import ModelError
from impulsar.cli import main
from impulsar.io.export.fmu import to_fmu
from impulsar.io.export.frozen import freeze
from impulsar.scenes import OWN

fmpy = pytest.importorskip("fmpy")
from fmpy.fmi2 import FMU2Slave  # noqa: E402
from fmpy.fmi3 import FMU3Slave  # noqa: E402
from fmpy.validation import validate_fmu  # noqa: E402

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="no C compiler")
H = 0.002


def driven() -> im.Model:
    """A pendulum with a motor, a spring and a load."""
    model = im.Model("driven & <odd>")
    arm = model.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.01), position=(0, 0, -0.5))
    model.joint("pivot", "revolute", model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), motor=im.Motor(torque=0.5))
    model.spring("return", arm, model.ground, at_a=(0, 0, -1), at_b=(1, 0, -1), stiffness=20.0, damping=0.5)
    model.load("push", arm, force=(0.1, 0.2, 0.0))
    return model


class Loaded:
    """Instances of an FMU, alike for both versions."""

    def __init__(self, path, folder):
        self.description = fmpy.read_model_description(str(path))
        self.references = {one.name: one.valueReference for one in self.description.modelVariables}
        self.is_2 = self.description.fmiVersion == "2.0"
        self.folder = fmpy.extract(str(path), unzipdir=str(folder))

    def instance(self, name: str = "one"):
        cls = FMU2Slave if self.is_2 else FMU3Slave
        made = cls(guid=self.description.guid, unzipDirectory=self.folder, instanceName=name,
                   modelIdentifier=self.description.coSimulation.modelIdentifier)  # fmt: skip
        made.instantiate()
        if self.is_2:
            made.setupExperiment(startTime=0.0)
        made.enterInitializationMode()
        made.exitInitializationMode()
        return made

    def set(self, instance, **values: float) -> None:
        keys, given = [self.references[name.replace("__", ".")] for name in values], list(values.values())
        (instance.setReal if self.is_2 else instance.setFloat64)(keys, given)

    def get(self, instance, *names: str) -> list[float]:
        keys = [self.references[name] for name in names]
        return list((instance.getReal if self.is_2 else instance.getFloat64)(keys))

    def step(self, instance, k: int) -> None:
        instance.doStep(currentCommunicationPoint=k * H, communicationStepSize=H)

    def keep(self, instance):
        return instance.getFMUstate() if self.is_2 else instance.getFMUState()

    def back(self, instance, state) -> None:
        (instance.setFMUstate if self.is_2 else instance.setFMUState)(state)

    def bytes_of(self, instance, state) -> bytes:
        return instance.serializeFMUstate(state) if self.is_2 else instance.serializeFMUState(state)

    def of_bytes(self, instance, data: bytes):
        return instance.deSerializeFMUstate(data) if self.is_2 else instance.deserializeFMUState(data)


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_fmu(version, tmp_path):
    """0 problems; the engine's bits, with inputs that change; two at once; a state replays, from bytes too."""
    world = im.World(driven(), dt=H)
    path = tmp_path / "driven.fmu"
    path.write_bytes(to_fmu(freeze(world), version))
    assert validate_fmu(str(path)) == []
    loaded = Loaded(path, tmp_path / "in")
    one, two = loaded.instance("one"), loaded.instance("two")
    names = ("pivot", "pivot.rate", "arm.position.x", "arm.orientation.w", "kinetic.energy")
    loaded.set(two, motor__pivot=-3.0)
    for k in range(30):
        loaded.step(one, k)
        loaded.step(two, k)
        world.step()
    joint, body = world.joint("pivot"), world.body("arm")
    truth = [joint.position, joint.velocity, body.position[0], body.orientation[3], world.energy().kinetic]
    assert loaded.get(one, *names) == truth
    assert loaded.get(two, "pivot")[0] != truth[0]

    world.apply(edits.Drive("pivot", 2.0))
    world.set("push.force", (0.1, 0.2, 5.0))
    loaded.set(one, motor__pivot=2.0, load__push__force__z=5.0)
    kept = loaded.keep(one)
    data = loaded.bytes_of(one, kept)
    for k in range(30, 50):
        loaded.step(one, k)
        world.step()
    end = loaded.get(one, *names)
    assert end[0] == world.joint("pivot").position
    loaded.back(one, kept)
    loaded.back(two, loaded.of_bytes(two, data))
    for k in range(30, 50):
        loaded.step(one, k)
        loaded.step(two, k)
    assert loaded.get(one, *names) == end == loaded.get(two, *names)

    loaded.set(one, arm__mass=2.0)
    world.set("arm.mass", 2.0)
    for k in range(50, 70):
        loaded.step(one, k)
        world.step()
    assert abs(loaded.get(one, "pivot")[0] - world.joint("pivot").position) < 1e-10
    with pytest.raises(Exception, match=r"fmi[23]DoStep"):
        one.doStep(currentCommunicationPoint=5.0, communicationStepSize=H)
    one.terminate()
    two.terminate()


def test_without_compiler(monkeypatch, tmp_path):
    """Where there is no compiler it says so, in one line."""
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(ModelError, match="no-such-compiler"):
        to_fmu(freeze(im.World(driven(), dt=H)))


def test_command_line(tmp_path, capsys):
    assert main(["export", "four-bar", "--to", "fmu", "--fmi", "2.0", "--out", str(tmp_path / "a.fmu")]) == 0
    assert "a.fmu" in capsys.readouterr().out
    assert fmpy.read_model_description(str(tmp_path / "a.fmu")).fmiVersion == "2.0"
    assert main(["export", "four-bar", "--to", "fmu", "--out", str(tmp_path)]) == 2


@pytest.mark.study
@pytest.mark.parametrize("name", OWN)
def test_all_scenes(name, tmp_path):
    """FMUs of all scenes without contact: valid, and within 1e-10 of the engine after 200 steps."""
    world = im.World(im.scene(name))
    if world.runner.system.counts.contacts:
        pytest.skip("has contacts")
    frozen = freeze(world)
    for version in ("2.0", "3.0"):
        path = tmp_path / f"{version}.fmu"
        path.write_bytes(to_fmu(frozen, version))
        assert validate_fmu(str(path)) == []
    names = [".".join(one.told.replace("'", "").split()) for one in frozen.coordinates]
    given = {"stop_time": 200 * world.dt, "step_size": world.dt, "output_interval": world.dt}
    found = fmpy.simulate_fmu(str(path), output=names, **given)
    world.step(200)
    truth = world.runner.readout.freedoms()[0][:, 0]
    assert np.abs(np.array([found[one][-1] for one in names]) - truth).max(initial=0.0) < 1e-10
