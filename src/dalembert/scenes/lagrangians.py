"""Systems given by a formula."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.scenes._base import Scene, register

if TYPE_CHECKING:
    from dalembert.lagrangian import Lagrangian

KEPLER_START = (0.4, 0.0), (0.0, 2.0)  # pericentre of an ellipse of eccentricity 0.6 and period 2 pi


def kepler() -> Lagrangian:
    """A planet in the plane, L = |v|^2/2 + mu/|q|."""
    from dalembert.lagrangian import Lagrangian

    def L(q: Any, v: Any, p: Any) -> Any:
        return 0.5 * (v[0] ** 2 + v[1] ** 2) + p.mu / np.sqrt(q[0] ** 2 + q[1] ** 2)

    return Lagrangian(2, L, params={"mu": 1.0}, symmetries={"rotation": ((0.0, -1.0), (1.0, 0.0))}, name="kepler", names=("x", "y"))


def kepler_exact(t: Any) -> Array:
    """The closed form."""
    from dalembert.verification import Kepler

    return Kepler(1.0, *KEPLER_START).state(t)[0]


register(
    Scene(
        name="kepler",
        summary="a planet on an ellipse of eccentricity 0.6, given by its Lagrangian: angular momentum is kept, the ellipse turns",
        build=kepler,
        q0=KEPLER_START[0],
        v0=KEPLER_START[1],
        h=0.02,
        t_end=20.0,
        stepper="midpoint",
        references=("marsden2001", "hairer2006"),
        exact=kepler_exact,
    )
)
