"""Pictures that a browser sends: unpacked only when they are of the size that is wanted."""

import numpy as np

from .status import opencv


def jpeg_size(data: bytes) -> tuple[int, int] | None:
    """Width and height that a JPEG says it has, or None where it is none."""
    if data[:2] != b"\xff\xd8":
        return None
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        kind, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):  # start of frame
            return int.from_bytes(data[at + 7 : at + 9], "big"), int.from_bytes(data[at + 5 : at + 7], "big")
        at += 2 + length
    return None


def unpack(jpeg: bytes, wanted: tuple[int, int]) -> np.ndarray | str:
    """The picture [height, width, 3] (BGR), or what it is instead: a few bytes may claim a picture of gigabytes."""
    found = jpeg_size(jpeg)
    if found == wanted:
        cv2 = opencv("picture of a page")
        image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
        if image is not None:
            return image
    return "no JPEG" if found is None else "{} x {} pixels".format(*found)
