"""What passes over the WebSocket /ar between pages and what sees for them: a camera, and a tracker in somebody's hand.

From the studio: `Seeing` as JSON whenever something in it changes, and for every picture a binary `SIGHT_HEADER`,
followed by `columns` x `rows` depths of 16 bits, row by row from the top, where the camera measures depth (a quarter of
a millimetre along the camera's z each, 0: not known; at places of the picture as ar/camera.py says), and by the picture
as JPEG unless it is the page's own. From a page that lends its camera: a binary
`PICTURE_HEADER` and the picture as JPEG. Numbers are little-endian; `found` is 1 where the marker was seen, and then
the rest of the header says where the room's frame R is in the camera K (x right, y down, z ahead): p_KR [m] and q_KR.

Over /phone-line, from a phone that is a tracker: a binary `PHONE_HEADER` with the buttons that are down, bit by bit,
and after it a picture as JPEG, or nothing where only the buttons have changed; to it `Guide` as JSON.
"""

from dataclasses import dataclass, field
from typing import Literal

from .messages import Vector

SIGHT_MAGIC = 0x52414D49  # "IMAR"
SIGHT_HEADER = (
    ("magic", "I"), ("number", "I"), ("time", "d"), ("found", "I"), ("own", "I"), ("columns", "I"), ("rows", "I"),
    ("x", "d"), ("y", "d"), ("z", "d"), ("qx", "d"), ("qy", "d"), ("qz", "d"), ("qw", "d"),
)  # fmt: skip
DEPTH_UNIT = 2.5e-4  # [m]
PICTURE_MAGIC = 0x43414D49  # "IMAC"
PICTURE_HEADER = (("magic", "I"), ("number", "I"), ("time", "d"))
PHONE_MAGIC = 0x48504D49  # "IMPH"
PHONE_HEADER = (("magic", "I"), ("number", "I"), ("buttons", "I"))


@dataclass(frozen=True, kw_only=True)
class Lens:
    """A camera's intrinsics [px] and its distortion k1, k2, p1, p2, k3; see src/impulsar/ar/optics.py."""

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float
    distortion: Vector


@dataclass(frozen=True, kw_only=True)
class Occluder:
    """Something real that hides what is behind it: about its pose in R a box of three sizes, or a capsule along z."""

    name: str
    kind: Literal["box", "capsule"]
    size: Vector  # box: along x, y, z; capsule: radius, and length between its balls [m]
    pose: Vector  # p_R and q_R


@dataclass(frozen=True, kw_only=True)
class Device:
    """A camera or tracker and how it is."""

    name: str
    state: Literal["waiting", "ok", "lost", "ended"]
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Seeing:
    """Who sees what, and where the mechanism stands in the room: its origin at p_RW, q_RW, so many times its size."""

    lens: Lens
    pose: Vector  # p_RW [m] and q_RW
    scale: float
    camera: Device
    marker: Device
    own: bool  # the page is to lend its camera
    tracker: Device | None = None
    holds: str | None = None  # the body that the tracker's hand holds
    tip: Vector = field(default_factory=list)  # p_W of the tracker's tip [m], where it has one
    occluders: list[Occluder] = field(default_factory=list)
    type: Literal["seeing"] = "seeing"


@dataclass(frozen=True, kw_only=True)
class Guide:
    """To a phone that is a tracker: what it should send, how it is doing, and what its hand holds."""

    width: int  # of the pictures that are wanted [px]
    height: int
    pixel: Vector  # where the tip is in them [px]; empty while the lens is not known
    state: Literal["waiting", "ok", "lost", "ended"]
    why: str = ""
    holds: str | None = None  # the body that its hand holds
    told: str = ""  # why the last press took nothing, or why it let go
    taken: int = 0  # number of the last picture that was looked at
    type: Literal["guide"] = "guide"
