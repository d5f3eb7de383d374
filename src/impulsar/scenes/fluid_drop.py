"""fluid-drop: balls in still water, one that sinks by its closed form, one that comes up, one that dives in."""

import math

from ..author.model import Model
from ..author.shapes import Sphere

WATER = 1000.0  # [kg/m³]


def build(radius: float = 0.01, density: float = 7850.0, drag: float = 0.44) -> Model:
    """A steel ball sinks in still water, a ball of cork rises to the surface, one of wood falls in and bobs.

    radius [m], density [kg/m³] of the ball that sinks; drag: coefficient C_D of all balls. It has no viscosity, so
    that v = v_t tanh(t/τ), with v_t² = 8 (ρ_s/ρ - 1) g R / (3 C_D) and τ = (ρ_s + ρ/2) v_t / ((ρ_s - ρ) g).
    """
    model = Model("fluid-drop")
    top = -0.05 - radius
    model.body("steel", shape=Sphere(radius), density=density, position=(0, 0, top), colour="#8a8f98")
    model.body("cork", shape=Sphere(0.03), density=240.0, position=(0.12, 0, -0.4), colour="#c58b4b")
    model.body("wood", shape=Sphere(0.04), density=600.0, position=(-0.12, 0, 0.25), colour="#a0672e")
    model.fluid("water", density=WATER, viscosity=0.0, drag=drag)
    model.probe("path", "cork", at=(0.12, 0, -0.4))
    model.dt, model.duration = 0.005, 1.0
    model.reference_energy = (WATER - 240.0) * 4 / 3 * math.pi * 0.03**3 * 9.81 * 0.4  # what the cork may gain
    return model
