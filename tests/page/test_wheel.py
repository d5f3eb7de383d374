"""The page in the wheel: built by pip alone with node from PyPI, served where there is no node."""

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from .browser import Server, Studio

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("src", "client", "pyproject.toml", "hatch_build.py", "README.md", "LICENSE")
PAGE = {f"impulsar/studio/page/{name}" for name in ("index.html", "app.js", "app.css", "THIRD_PARTY.txt")}


def path_without_node() -> str:
    """PATH without the folders that hold a node or npm of the machine, but for the interpreter's own."""
    own = str(Path(sys.executable).parent)
    folders = os.environ["PATH"].split(os.pathsep)
    kept = [folder for folder in folders if not any((Path(folder) / name).exists() for name in ("node", "npm"))]
    return os.pathsep.join([own, *kept])


def run(*command: str | Path, cwd: Path) -> None:
    environment = {**os.environ, "PATH": path_without_node()}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{command} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"


@pytest.mark.slow
def test_wheel_brings_its_page(
    tmp_path: Path, open_page: Callable[..., Studio], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a checkout in which no page was built: pip builds it, the wheel holds it, the studio shows it."""
    checkout = tmp_path / "checkout"
    ignore = shutil.ignore_patterns("node_modules", "page", "__pycache__")
    checkout.mkdir()
    for name in SOURCES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, checkout / name, ignore=ignore)
        else:
            shutil.copy(source, checkout / name)
    run(sys.executable, "-m", "build", "--wheel", "--outdir", tmp_path, checkout, cwd=tmp_path)
    (wheel,) = tmp_path.glob("impulsar-*.whl")
    assert set(zipfile.ZipFile(wheel).namelist()) >= PAGE

    installed = tmp_path / "installed"  # the dependencies are those of the environment
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    monkeypatch.setenv("PYTHONPATH", str(installed))
    monkeypatch.setenv("PATH", path_without_node())
    assert shutil.which("node") is None
    monkeypatch.chdir(tmp_path)
    server = Server("ten-pendula", program=(sys.executable, "-P", "-m", "impulsar"))
    try:
        studio = open_page(server.link)
        served = studio.ask("async () => (await (await fetch('app.js')).text()).length")
        assert served == len((installed / "impulsar" / "studio" / "page" / "app.js").read_text())
        assert studio.get("scene")["name"] == "ten pendula"
    finally:
        server.stop()
