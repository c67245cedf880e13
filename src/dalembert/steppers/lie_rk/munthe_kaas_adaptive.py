"""Munthe-Kaas methods that choose their own internal steps.

mk5: the pair of Dormand and Prince, orders 5(4), seven stages. mk8: the triple of Dormand, Prince and Hairer, orders 8(5, 3), thirteen
stages, whose coefficients are read from SciPy. The last stage is the step itself, and the first stage of the next one.

    error        e = |h| e_4 of the pair,  e = |h| e_5^2 / sqrt(e_5^2 + e_3^2/100) of the triple; e_k: root mean square of the
                 estimate in units of the scale                                                       hairer1993, II.4 and II.10
    scale        atol + rtol max(|v_0|, |v_1|) for velocities, atol + rtol for configurations (rad, m): a group has no size of its own
    next step    h min(10, max(0.2, 0.9 e^(-1/k))),  k = 5 or 8; a step with e > 1 is repeated

A step [t, t + h] takes as many internal steps as that needs. What the last one proposes for the next is kept in the state, so that a
resumed run continues bit for bit.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.kernels.lie_rk import adaptive_step
from dalembert.registry import Option, register
from dalembert.steppers.lie_rk._entry import COMMON
from dalembert.steppers.lie_rk._tableau import Tableau, all_in_one, fill

_DORMAND_PRINCE = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
_FOURTH = (5179 / 57600, 0.0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40)


@cache
def dormand_prince_5() -> Tableau:
    """Orders 5(4)."""
    b = fill(_DORMAND_PRINCE[-1], 7)
    error = tuple(x - y for x, y in zip(b, _FOURTH, strict=True))
    c = (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
    return Tableau("mk5", 5, **all_in_one(_DORMAND_PRINCE, b), c=c, errors=(error,), error_order=5)


@cache
def dormand_prince_8() -> Tableau:
    """Orders 8(5, 3); the coefficients are public attributes of SciPy's class."""
    from scipy.integrate import DOP853

    s = DOP853.n_stages
    a = [np.trim_zeros(row[:s], "b") for row in DOP853.A[:s]]
    b = fill(DOP853.B, s + 1)
    c = fill([*DOP853.C[:s], 1.0], s + 1)
    return Tableau("mk8", 8, **all_in_one([*a, DOP853.B], b), c=c, errors=(fill(DOP853.E5, s + 1), fill(DOP853.E3, s + 1)), error_order=8)


def _options(rtol: float, atol: float) -> tuple[Option, ...]:
    return (
        Option(
            "rtol",
            rtol,
            "error of an internal step relative to the velocities, to 1 rad and 1 m",
            valid=lambda x: x >= 1e-14,
            expected="a number >= 1e-14",
        ),
        Option("atol", atol, "absolute error of an internal step", units="of q and v", valid=lambda x: x >= 0, expected="a number >= 0"),
        Option(
            "max_substeps",
            100_000,
            "internal steps per step, rejected ones included",
            valid=lambda n: n >= 1,
            expected="a whole number >= 1",
        ),
    )


def _prepare_5(system: Array, options: dict[str, Any]) -> Array:
    return dormand_prince_5().pack(system, **options)


def _prepare_8(system: Array, options: dict[str, Any]) -> Array:
    return dormand_prince_8().pack(system, **options)


_LIMITATIONS = "explicit: energy and momentum drift within the tolerance; no time reversal"

register(
    name="mk5",
    summary="Munthe-Kaas method with Dormand and Prince's pair of order 5(4): internal steps by error control",
    order=5,
    adaptive=True,
    options=_options(1e-6, 1e-9),
    references=("park2005", "munthekaas1999", "dormand1980"),
    limitations=_LIMITATIONS,
    rank=46,
    prepare=_prepare_5,
    **COMMON,
)(adaptive_step)

register(
    name="mk8",
    summary="Munthe-Kaas method with the triple of order 8(5, 3): internal steps by error control, the reference for trees",
    order=8,
    adaptive=True,
    options=_options(1e-10, 1e-12),
    references=("park2005", "munthekaas1999", "hairer1993", "scipy"),
    limitations=_LIMITATIONS,
    rank=45,
    prepare=_prepare_8,
    **COMMON,
)(adaptive_step)
