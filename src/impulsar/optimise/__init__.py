"""Dimensions, motors, trajectories and other parameters for a purpose; parameters from measurements."""

from .fitting import Design, Fit, fit, fit_curve, fit_function, fit_poses
from .identify import Identified, identify, read_samples
from .linkage import Linkage
from .motors import (
    Balanced,
    Choice,
    Load,
    MotorType,
    balance,
    choose_motor,
    load_of,
    matched_ratio,
    read_motors,
    torque_speed_picture,
)
from .pivots import Pivots, pivots
from .tasks import Tuned, tune
from .trajectories import Trajectory, trajectory

__all__ = [
    "Balanced",
    "Choice",
    "Design",
    "Fit",
    "Identified",
    "Linkage",
    "Load",
    "MotorType",
    "Pivots",
    "Trajectory",
    "Tuned",
    "balance",
    "choose_motor",
    "fit",
    "fit_curve",
    "fit_function",
    "fit_poses",
    "identify",
    "load_of",
    "matched_ratio",
    "pivots",
    "read_motors",
    "read_samples",
    "torque_speed_picture",
    "trajectory",
    "tune",
]
