"""Starts of a machine: does a state meet the joints that own no coordinates?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError
from dalembert.model.assembly import allowed
from dalembert.model.definite import check_definite
from dalembert.model.reactions import row_units

if TYPE_CHECKING:
    from dalembert.model.model import Model

START = 1e-8  # residuals of a start: of the size of the machine, and of |row| max(|v|, 1)
VANISHED = 1e-6  # rows of constraints may be round-off: below this part of the longest, and of their terms, they are judged by that


def check_start(model: Model, stepper: Any, q: Array, v: Array, ignore: tuple[str, ...]) -> None:
    """OptionError where a start violates the joints that the stepper would have to keep; it names the worst one.

    ModelError where the mass matrix is indefinite there. model: without what is ignored.
    """
    check_definite(model, q)
    if stepper.python or not model._has_rows or not {"loops", "nonholonomic", "drive"} & set(stepper.handles):
        return
    g, G = model.constraint_rows(q)
    _refuse_start(model, np.abs(g), allowed(model, START), "q0 leaves it open by", "", ignore)
    length = np.linalg.norm(G, axis=1)
    terms = allowed(model, 1.0)
    length = np.maximum(length, VANISHED * np.maximum(terms, length.max(initial=0.0)))
    length *= max(1.0, float(np.linalg.norm(v)))  # below 1 rad/s or m/s: absolute
    _refuse_start(model, np.abs(G @ v - model._constraints().prescribed(0.0)[1]), START * length, "v0 opens it at", "/s", ignore)


def _refuse_start(model: Model, found: Array, allowed: Array, how: str, per: str, ignore: tuple[str, ...]) -> None:
    wrong = found > allowed
    if not wrong.any():
        return
    r = int(np.argmax(np.where(wrong, found / np.where(allowed > 0.0, allowed, 1.0), 0.0)))
    joint, row = model.constraint_labels[r]
    feature = next((name for name in ("loops", "nonholonomic") if joint in model.parts(name)), "drive")
    raise OptionError(
        f"model {model.name!r}, joint {joint!r} ({row}): {how} {found[r]:.3g} {row_units(model)[r]}{per}; "
        f"expected at most {allowed[r]:.2g}. "
        f"q0, v0 = m.assemble(q0, v0) gives the nearest start that meets all joints; "
        f"ignore={model.check_features((*ignore, feature))!r} runs without."
    )
