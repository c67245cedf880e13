"""Is the kinetic energy of a machine positive?

A link whose spatial inertia (its body and all that is fixed to it) has no negative eigenvalue never makes the mass matrix indefinite. Where
one has, as in files with a slip of the pen, the mass matrix at the start decides: a machine around such a link may still be sound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model import kinematics
from dalembert.model.compile_tree import Link, build_tree

if TYPE_CHECKING:
    from dalembert.model.model import Model

ROUND_OFF = 1e-12  # of the largest eigenvalue


def check_definite(model: Model, q: Array) -> None:
    """ModelError that names the bodies to blame where the mass matrix at q has a negative eigenvalue."""
    if not doubtful(model):
        return
    found = np.linalg.eigvalsh(kinematics.mass_matrix_reference(model, q))
    if found[0] >= -ROUND_OFF * found[-1]:
        return
    moments = {b.name: np.linalg.eigvalsh(b.inertia) for b in model.bodies}
    words = [f"body {name!r} has the principal moments {x.tolist()} kg m^2" for name, x in moments.items() if x[0] < 0.0]
    raise ModelError(
        f"model {model.name!r}: the mass matrix is indefinite at the start (eigenvalues {found[0]:.3g} to {found[-1]:.3g}), so there are "
        f"motions of negative kinetic energy; {' and '.join(words)}; expected none below 0. Correct it, or give the joint armature."
    )


def doubtful(model: Model) -> bool:
    """True if an inertia has a negative eigenvalue, so that the mass matrix may have one."""
    known = model.kept("definite") if model._frozen else {}
    if "doubtful" not in known:
        known["doubtful"] = not all(b.physical or b.massless for b in model.bodies) and any(map(_negative, build_tree(model).links))
    return bool(known["doubtful"])


def _negative(link: Link) -> bool:
    """True if the 6x6 inertia about the link's origin has an eigenvalue below round-off."""
    h = link.moment
    hat = np.array([[0, -h[2], h[1]], [h[2], 0, -h[0]], [-h[1], h[0], 0]])
    found = np.linalg.eigvalsh(np.block([[link.inertia, hat], [hat.T, link.mass * np.eye(3)]]))
    return bool(found[0] < -ROUND_OFF * max(found[-1], 0.0))
