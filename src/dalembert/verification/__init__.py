"""Exact solutions: what tests, documentation and benchmarks measure steppers against. NumPy and SciPy only, nothing is stepped."""

from dalembert.verification.bouncing_ball import BouncingBall
from dalembert.verification.free_body import free_body, period
from dalembert.verification.high_oscillation import SpookPair, StiffPair
from dalembert.verification.kepler import Kepler, KeplerInvariants, kepler_invariants
from dalembert.verification.lagrange_top import LagrangeTop, sleeping_threshold, turning_points
from dalembert.verification.linear_constraint import (
    spook_matrix,
    spook_radius,
    spook_roots,
    spook_sigma,
    spook_spring_energy,
    spook_state,
    spook_step,
)
from dalembert.verification.nonholonomic import ChaplyginSleigh, DiscreteDisk, knife_edge, nonholonomic_particle, rolling_disk
from dalembert.verification.oscillator import (
    AlphaBeta,
    amplitude_factor,
    area_factor,
    damped_oscillator,
    named_power,
    stability_function,
)
from dalembert.verification.pendulum import Pendulum
from dalembert.verification.slider_crank import (
    SliderCrank,
    slider_crank_configuration,
    slider_crank_constraint,
    slider_crank_jacobian,
)
from dalembert.verification.smooth_impact import SmoothImpact, damping_ratio, restitution
from dalembert.verification.symmetric_top import symmetric_top

__all__ = [
    "AlphaBeta",
    "BouncingBall",
    "ChaplyginSleigh",
    "DiscreteDisk",
    "Kepler",
    "KeplerInvariants",
    "LagrangeTop",
    "Pendulum",
    "SliderCrank",
    "SmoothImpact",
    "SpookPair",
    "StiffPair",
    "amplitude_factor",
    "area_factor",
    "damped_oscillator",
    "damping_ratio",
    "free_body",
    "kepler_invariants",
    "knife_edge",
    "named_power",
    "nonholonomic_particle",
    "period",
    "restitution",
    "rolling_disk",
    "sleeping_threshold",
    "slider_crank_configuration",
    "slider_crank_constraint",
    "slider_crank_jacobian",
    "spook_matrix",
    "spook_radius",
    "spook_roots",
    "spook_sigma",
    "spook_spring_energy",
    "spook_state",
    "spook_step",
    "stability_function",
    "symmetric_top",
    "turning_points",
]
