"""The linear car that a Mini Baja on stiff springs goes to as slip vanishes: the bicycle model, and what wheels that
turn about leaning kingpins add to it in first order of the steering angle δ.

With k the kingpin per unit of δ (k_z = 1), through its lower ball at P, a point Q of knuckle or wheel moves by
k × (Q - P) δ̇. So do contacts C, by (e, -c, j) δ̇ on the left and (-e, -c, -j) δ̇ on the right: c is the mechanical trail.

    m (v̇ + V r) = F_f + F_r - P_y δ̈
    I_z ṙ = (a - t_f) F_f - (b + t_r) F_r - S δ̈ - H_f k_x δ̇ - H φ̇ - 2 Σ w X          a, b to the axles, w half tracks
    ẏ_f = v + a r - V δ - c δ̇ + (h - h_f) φ̇ - s j δ̇ - V y_f / σ_f                       F = -C y / σ
    ẏ_r = v - b r + (h - h_r) φ̇ - V y_r / σ_r
    I_s ω̇ = -R X,   u̇ = w r + e δ̇ + R ω - V u / σ_κ,   X = K_x u / σ_κ                  of the left wheel of each axle

P_y, S: momenta of what is steered. H, H_f: spin of all and of the front wheels, whose axles roll with the car (φ) and
lean with the caster (k_x). X: wheels to the left and right spin as fast as their ways are long, which takes forces
along them; it is as if I_z were larger by Σ I_s w² / R² over the wheels, 4.6 %. h_f, h_r: roll centres; s: how far a
contact moves out by travel.
"""

from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

import impulsar as im
from impulsar.author.rotations import rotation_matrix
from impulsar.engine.forces.tyre_law import steady
from impulsar.scenes.minibaja import BEHIND, HEIGHT, INERTIA, MASS, RACK, WHEELBASE, point, wheel_load

A, B = BEHIND, WHEELBASE - BEHIND
SPIN, ROLLING = 0.36, 0.283  # of a wheel [kg m²], its loaded radius [m]
HALF_TRACKS = {"fl": 0.6985, "rl": 0.635}
ROLL_CENTRES = {"fl": 0.177, "rl": 0.193}  # of the hard points [m]


@dataclass
class Steered:
    """What is steered, by unit of δ̇."""

    along: float = 0.0  # e of the left contact [m]
    trail: float = 0.0
    lift: float = 0.0
    lean: float = 0.0  # k_x
    yaw: float = 0.0  # S [kg m²]
    across: float = 0.0  # P_y [kg m]


def steered(model: im.Model) -> Steered:
    """Of a Mini Baja whose arms are at rest."""
    found, centre = Steered(), np.array([-BEHIND, 0.0, HEIGHT])
    for corner in ("fl", "fr"):
        low, hub = point(corner, "lower ball"), point(corner, "wheel")
        k = (point(corner, "upper ball") - low) / (point(corner, "upper ball") - low)[2]
        contact = np.cross(k, (hub[0], hub[1], 0.0) - low)
        if corner == "fl":
            found.along, found.trail, found.lift, found.lean = contact[0], -contact[1], contact[2], k[0]
        for body in (model.bodies[f"knuckle {corner}"], model.bodies[f"wheel {corner}"]):
            turn, v = rotation_matrix(body.orientation), np.cross(k, body.position - low)
            found.yaw += (turn @ body.inertia @ turn.T @ k)[2] + body.mass * np.cross(body.position - centre, v)[2]
            found.across += body.mass * v[1]
    inner, outer = point("fl", "rod inner"), point("fl", "rod outer")
    low = point("fl", "lower ball")
    k = (point("fl", "upper ball") - low) / (point("fl", "upper ball") - low)[2]
    rack = np.cross(k, outer - low) @ (outer - inner) / (outer - inner)[1]  # its link keeps its length
    found.across += RACK * rack
    found.yaw += RACK * (inner[0] + BEHIND) * rack
    return found


def linear_rate(model: im.Model, V: float, times: np.ndarray, steer: np.ndarray, roll: np.ndarray) -> np.ndarray:
    """Yaw rate of the linear car that is steered and rolls so over time."""
    front, rear = (steady(model, f"tyre {at}", wheel_load(at), 0.0, 1e-7)[0] for at in ("fl", "rl"))
    own, spins = steered(model), SPIN * V / ROLLING
    delta, phi = CubicSpline(times, steer), CubicSpline(times, roll)
    steer_rate, steer_jerk, roll_rate = delta.derivative(), delta.derivative(2), phi.derivative()
    s = ROLL_CENTRES["fl"] / HALF_TRACKS["fl"]

    def rate(t: float, y: np.ndarray) -> list[float]:
        v, r, across_f, across_r, *spun = y
        F_f, F_r = (2 * axle[4] * x / axle[6] for axle, x in ((front, across_f), (rear, across_r)))
        t_f, t_r = (-axle[2] / axle[1] for axle in (front, rear))
        d1, d2, p1 = steer_rate(t), steer_jerk(t), roll_rate(t)
        slide_f = v + A * r - V * delta(t) - (own.trail + s * own.lift) * d1 + (HEIGHT - ROLL_CENTRES["fl"]) * p1
        slide_r = v - B * r + (HEIGHT - ROLL_CENTRES["rl"]) * p1
        turn = (A - t_f) * F_f - (B + t_r) * F_r - own.yaw * d2 - 2 * spins * own.lean * d1 - 4 * spins * p1
        rates = []
        for (w, u), at, axle, e in zip((spun[:2], spun[2:]), HALF_TRACKS, (front, rear), (own.along, 0.0), strict=True):
            along = axle[3] * u / axle[5]
            rates += [-ROLLING * along / SPIN, HALF_TRACKS[at] * r - e * d1 + ROLLING * w - V * u / axle[5]]
            turn -= 2 * HALF_TRACKS[at] * along
        accelerations = [(F_f + F_r - own.across * d2) / MASS - V * r, turn / INERTIA[2]]
        return [*accelerations, slide_f - V * across_f / front[6], slide_r - V * across_r / rear[6], *rates]

    return solve_ivp(rate, (0, times[-1]), np.zeros(8), "LSODA", times, rtol=1e-10, atol=1e-13).y[1]
