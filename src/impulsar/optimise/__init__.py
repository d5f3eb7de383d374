"""Dimensions of linkages for curves, functions and poses; parameters from measurements."""

from .fitting import Design, Fit, fit, fit_curve, fit_function, fit_poses
from .identify import Identified, identify, read_samples
from .linkage import Linkage
from .pivots import Pivots, pivots

__all__ = [
    "Design",
    "Fit",
    "Identified",
    "Linkage",
    "Pivots",
    "fit",
    "fit_curve",
    "fit_function",
    "fit_poses",
    "identify",
    "pivots",
    "read_samples",
]
