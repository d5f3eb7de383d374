"""A swing: a seat on two ropes, as a scene."""

import impulsar as im


def build(rope: float = 2.0, seat: float = 10.0) -> im.Model:
    """A seat on two ropes, let go from 30° off the vertical."""
    model = im.Model("swing")
    low = (0.5 * rope, 0.0, -(3**0.5) / 2 * rope)
    board = model.body("board", mass=seat, inertia=(0.2, 0.1, 0.2), position=low)
    for side, y in (("left", -0.2), ("right", 0.2)):
        middle = (0.25 * rope, y, -(3**0.5) / 4 * rope)
        lengthwise = (0.0, -0.25881904510252074, 0.0, 0.9659258262890683)  # turns z by -30° about y
        pole = model.body(f"{side} pole", 0.5, (0.2, 0.2, 0.001), middle, lengthwise)
        model.joint(f"{side} eye", "revolute", model.ground, pole, at=(0.0, y, 0.0), axis=(0, 1, 0))
        model.joint(f"{side} knot", "revolute", pole, board, at=(low[0], y, low[2]), axis=(0, 1, 0))
    model.dt, model.duration = 0.01, 5.0
    return model
