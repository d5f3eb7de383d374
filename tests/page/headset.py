"""A headset for the page's tests: IWER's, in a room with a table, worn by the test."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from .browser import Studio

ROOT = Path(__file__).resolve().parents[2]
IWER = ROOT / "client" / "node_modules" / "iwer" / "build" / "iwer.min.js"
TABLE = 0.75  # height of the table, which is as large as the room [m]
INSTALL = "import hatch_build; hatch_build.Page(hatch_build.ROOT).install()"
SMALL = {"width": 640, "height": 420}  # what software draws in good time

ROOM = """
(() => {
  const device = new IWER.XRDevice({ ...IWER.metaQuest3, MODES });
  device.installRuntime({ forceInstall: true });
  device.installSEM(class {
    trackedPlanes = new Set();
    trackedMeshes = new Set();
    constructor() {
      this.environmentCanvas = document.createElement("canvas");
      this.environmentCanvas.style.cssText = "position: absolute; inset: 0; width: 100%; height: 100%";
      const pen = this.environmentCanvas.getContext("2d");
      pen.fillStyle = "#c9c4b8"; pen.fillRect(0, 0, 300, 75);
      pen.fillStyle = "#8a7458"; pen.fillRect(0, 75, 300, 75);
    }
    render() {}
    loadEnvironment() {}
    loadDefaultEnvironment() {}
    deleteAll() {}
    computeDepthBuffer(view, projection, width, height) { // a wall, so far away, on the left half of each eye's picture
      if (!window.wall) return null;
      const data = new Float32Array(width * height);
      for (let k = 0; k < data.length; k++) data[k] = k % width < width / 2 ? window.wall : 0;
      return { data: data.buffer, width, height, rawValueToMeters: 1 };
    }
    computeHitTestResults(m) { // where a ray, from its origin along -z, comes down on the table
      const way = (m[13] - TABLE) / m[9];
      if (!(m[9] > 0) || way < 0) return [];
      const at = [m[12] - way * m[8], TABLE, m[14] - way * m[10]];
      return [new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, ...at, 1])];
    }
  });
  window.device = device;
})();
"""


def runtime(modes: tuple[str, ...] = ("inline", "immersive-vr", "immersive-ar")) -> str:
    """The script that gives a page a headset with these kinds of session."""
    if not IWER.is_file():
        subprocess.run([sys.executable, "-c", INSTALL], cwd=ROOT, check=True, timeout=600)
    room = ROOM.replace("MODES", f"supportedSessionModes: {list(modes)!r}").replace("TABLE", str(TABLE))
    return IWER.read_text(encoding="utf-8") + room


class Headset:
    """What somebody does who wears it. Places are of the room: y up, metres, the eyes at (0, 1.6, 0)."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio

    def enter(self) -> "Headset":
        self.studio.page.click("#headset")
        self.studio.until("() => impulsar.headset() !== null")
        self.wait()
        return self

    def state(self) -> dict[str, Any]:
        return self.studio.get("headset")

    def wait(self, pictures: int = 3) -> None:
        """Let the headset draw: what was done is known then."""
        drawn = self.studio.get("drawn")
        self.studio.until("(n) => impulsar.drawn() >= n", drawn + pictures)

    def hold(self, hand: str, at: Any, towards: Any) -> None:
        """Bring a controller to a place, with its ray through another."""
        at, towards = np.asarray(at, float), np.asarray(towards, float)
        z = (at - towards) / np.linalg.norm(at - towards)
        x = np.cross((0, 1, 0), z)
        x = x / np.linalg.norm(x) if np.linalg.norm(x) > 1e-6 else np.array([1.0, 0, 0])
        turn = Rotation.from_matrix(np.column_stack((x, np.cross(z, x), z))).as_quat()
        self.move(hand, at, turn)

    def move(self, hand: str, at: Any, turn: Any = None) -> None:
        self.studio.ask(
            """([hand, at, turn]) => {
              const input = device[device.primaryInputMode === "hand" ? "hands" : "controllers"][hand];
              input.position.set(...at);
              if (turn) input.quaternion.set(...turn);
            }""",
            [hand, np.asarray(at, float).tolist(), None if turn is None else np.asarray(turn, float).tolist()],
        )
        self.wait()

    def button(self, hand: str, name: str, value: int) -> None:
        self.studio.ask("([hand, n, v]) => device.controllers[hand].updateButtonValue(n, v)", [hand, name, value])
        self.wait()

    def select(self, hand: str = "right") -> None:
        self.button(hand, "trigger", 1)
        self.button(hand, "trigger", 0)

    def press(self, name: str) -> None:
        """Point at a button of the board and select it."""
        place = np.array(self.state()["buttons"][name])
        self.hold("right", np.add(place, (0.05, 0.0, 0.3)), place)
        self.select()

    def to_room(self, point: Any) -> np.ndarray:
        placed = self.state()["placed"]
        return np.array(placed["p"]) + placed["scale"] * Rotation.from_quat(placed["q"]).apply(point)

    def to_world(self, point: Any) -> np.ndarray:
        placed = self.state()["placed"]
        return Rotation.from_quat(placed["q"]).inv().apply(np.asarray(point) - placed["p"]) / placed["scale"]
