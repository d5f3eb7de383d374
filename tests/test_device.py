"""Warp's cache of compiled kernels: what is spoiled in it is compiled again."""

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

KERNEL = """
import sys
import warp as wp
from impulsar.engine.device import announce_compilation, load_kernels

@wp.kernel
def twice(x: wp.array(dtype=wp.float64)):
    i = wp.tid()
    x[i] = wp.float64(2.0) * x[i]

load_kernels([twice], "cpu")
announce_compilation(twice, "cpu")
x = wp.array([1.0, 2.0, 3.0], dtype=wp.float64, device="cpu")
wp.launch(twice, 3, inputs=[x], device="cpu")
print(x.numpy().tolist())
"""
SPOIL = {
    "empty": lambda raw, rng: b"",
    "cut": lambda raw, rng: raw[: len(raw) // 2],
    "flipped": lambda raw, rng: bytes(byte ^ (rng.random() < 0.02) << rng.randrange(8) for byte in raw),
    "one bit": lambda raw, rng: raw[:100] + bytes([raw[100] ^ 1]) + raw[101:],
}


def use(folder: Path) -> subprocess.CompletedProcess:
    """Compile, load and launch a kernel of a program of its own, in a cache of its own."""
    program = folder / "tiny.py"
    program.write_text(KERNEL)
    environment = os.environ | {"WARP_CACHE_PATH": str(folder / "cache")}
    return subprocess.run(
        [sys.executable, str(program)], env=environment, capture_output=True, text=True, errors="replace", check=False
    )


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A folder with the program and its compiled kernel."""
    folder = tmp_path_factory.mktemp("compiled")
    done = use(folder)
    assert done.stdout.strip() == "[2.0, 4.0, 6.0]" and "spoiled" not in done.stderr, done.stderr
    return folder


@pytest.fixture
def folder(compiled, tmp_path):
    """A copy of it, to be spoiled."""
    return shutil.copytree(compiled, tmp_path / "copy")


@pytest.mark.slow
@pytest.mark.parametrize(("how", "is_summed"), [("empty", True), ("one bit", True), ("cut", False), ("flipped", False)])
def test_a_spoiled_kernel_is_compiled_again(folder, how, is_summed):
    """Told in one line, once; where no crcs are kept it is known by not loading."""
    if not is_summed:
        for sums in folder.rglob("impulsar.sums"):
            sums.unlink()
    (spoiled,) = folder.rglob("*.o")
    spoiled.write_bytes(SPOIL[how](spoiled.read_bytes(), random.Random(0)))
    again = use(folder)
    assert again.returncode == 0, again.stderr
    assert again.stdout.strip() == "[2.0, 4.0, 6.0]"
    assert again.stderr.count("is spoiled; it is compiled again") == 1
    assert "spoiled" not in use(folder).stderr


def test_what_is_not_spoiled_is_not_compiled_again(folder):
    """Without crcs, and beside what another processor's program compiled in a shared cache."""
    for sums in folder.rglob("impulsar.sums"):
        sums.unlink()
    (good,) = folder.rglob("*.o")
    other = good.with_name("of another.o")
    other.write_bytes(b"machine code")
    for _ in range(2):
        assert not use(folder).stderr.count("impulsar:")
        assert other.exists()
