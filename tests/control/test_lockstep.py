"""Lock step with another process: the bits of control in this one, and faults that are named."""

import socket
import subprocess
import sys
import threading
import time

import pytest

import impulsar as im
from impulsar.world.control import ControlWarning
from impulsar.world.lockstep import External, serve

from .pendulum import READS, WRITES, K, leaning

# the other side, by the protocol alone: no line of impulsar's
OTHER = """
import json, socket, sys
K = json.loads(sys.argv[1])
line = socket.socket(getattr(socket, sys.argv[2]))
line.bind(json.loads(sys.argv[3]) if sys.argv[2] == "AF_UNIX" else tuple(json.loads(sys.argv[3])))
line.listen(1)
print("ready", flush=True)
world = line.accept()[0].makefile("rw")
assert json.loads(world.readline()) == {"lockstep": 1}
for asked in world:
    y = json.loads(asked)["inputs"]
    out = [-(k[0] * y[0] + k[1] * y[1] + k[2] * y[2] + k[3] * y[3]) for k in K]
    world.write(json.dumps({"outputs": out}) + "\\n")
    world.flush()
"""


def in_process(t, y):
    return [-(k[0] * y[0] + k[1] * y[1] + k[2] * y[2] + k[3] * y[3]) for k in K.tolist()]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.mark.parametrize("family", ["AF_INET", "AF_UNIX"])
def test_a_thousand_steps_to_the_same_bits(tmp_path, family):
    import json

    if family == "AF_UNIX":
        where, address = str(tmp_path / "s"), f"unix:{tmp_path / 's'}"
    else:
        port = free_port()
        where, address = ["127.0.0.1", port], f"127.0.0.1:{port}"
    arguments = [json.dumps(K.tolist()), family, json.dumps(where)]
    with subprocess.Popen([sys.executable, "-c", OTHER, *arguments], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "ready\n"
        worlds, external = [leaning(), leaning()], External(address)
        for world, controller in zip(worlds, (in_process, external), strict=True):
            world.attach("c", controller, rate=1000.0, reads=READS, writes=WRITES)
            world.step(1000)
            assert not world.controllers["c"].faults
        external.close()
        assert other.wait(10) == 0
    assert worlds[0].hash() == worlds[1].hash()


def test_serve_is_the_other_side_in_python():
    port, calls = free_port(), []

    def controller(t, y):
        calls.append(t)
        if len(calls) == 3:
            raise ValueError("no")
        return [1.0, 2.0]

    there = threading.Thread(target=serve, args=(controller, f"127.0.0.1:{port}", 2), daemon=True)
    there.start()
    world, external = leaning(), External(f"127.0.0.1:{port}")
    for _ in range(1000):
        try:
            socket.create_connection(("127.0.0.1", port), 0.1).close()  # that was its first session
            break
        except OSError:
            time.sleep(0.02)
    world.attach("c", external, rate=1000.0, reads=READS, writes=WRITES)
    with pytest.warns(ControlWarning, match="answered 'ValueError: no'"):
        world.step(5)
    assert len(calls) == 5 and world.controllers["c"].faults == 1
    external.close()
    there.join(5)
    assert not there.is_alive()


def test_nobody_there_is_a_fault_and_the_world_goes_on():
    world = leaning()
    world.attach("c", External(f"127.0.0.1:{free_port()}", timeout=0.2), rate=100.0, reads=READS, writes=WRITES)
    with pytest.warns(ControlWarning, match="raised LockstepError"):
        report = world.step(20)
    assert world.controllers["c"].faults == 2 and "c" in report.faults


def test_silence_is_a_fault():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(4)
        world = leaning()
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        world.attach("c", External(address, timeout=0.1), rate=100.0, writes=WRITES)
        began = time.perf_counter()
        with pytest.warns(ControlWarning, match="timed out"):
            world.step(10)
        assert 0.1 <= time.perf_counter() - began < 5.0


@pytest.mark.parametrize("address", ["192.168.1.2:5000", "0.0.0.0:5000", "127.0.0.1", "unix:", "127.0.0.1:0", 5000])
def test_only_this_machine(address):
    with pytest.raises(im.ModelError, match="a port of this machine"):
        External(address)
