"""Dimensions of linkages for curves, functions and poses; parameters from measurements."""

from .fitting import Fit, fit, fit_curve, fit_function, fit_poses
from .identify import Identified, identify, read_samples
from .linkage import Linkage

__all__ = [
    "Fit",
    "Identified",
    "Linkage",
    "fit",
    "fit_curve",
    "fit_function",
    "fit_poses",
    "identify",
    "read_samples",
]
