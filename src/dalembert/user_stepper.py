"""`@dal.stepper`: a user's own method, in a notebook or a package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dalembert.errors import OptionError
from dalembert.kernels._jit import JIT_DISABLED
from dalembert.kernels.guard import compiled_step
from dalembert.registry import Option, Stepper, register


def stepper(
    name: str,
    order: int,
    summary: str = "",
    kernel: bool = False,
    system: str | None = None,
    options: tuple[Option, ...] = (),
    **description: Any,
) -> Callable[[Any], Any]:
    """Register a method under a name.

    Plain form: step(m, t, q, v, h) -> (q, v), called once per step from Python; works for every model. It may take `tau=` (the control)
    and options.
    Kernel form (kernel=True): step(t, h, system, state, work, info) -> status, compiled into the loop; `system` names the family whose
    arrays it works on
    (default "rigid-body", see dalembert.kernels.rigid_body.layout).
    Further keywords as in the registry: self_adjoint, symplectic, conserves, handles, limitations, references, rank, prepare.
    `dal.check_stepper(name)` judges the promises.
    """
    if not isinstance(name, str) or not name:
        raise OptionError(f"stepper: name is {name!r}; expected a non-empty string.")
    if isinstance(order, bool) or not isinstance(order, int) or order < 1:
        raise OptionError(f"stepper {name!r}: order is {order!r}; expected a whole number >= 1.")
    for key in description:
        if key not in Stepper.__dataclass_fields__ or key in ("step", "python"):
            raise OptionError(f"stepper {name!r}: unknown keyword {key!r}.")

    def enter(step: Any) -> Any:
        text = summary or (step.__doc__ or "").strip().split("\n")[0] or "user's method"
        step_function = step if not kernel or JIT_DISABLED else compiled_step(step)
        register(
            name=name,
            order=order,
            summary=text,
            system=system or ("rigid-body" if kernel else "any"),
            options=tuple(options),
            python=not kernel,
            **{"rank": 1000, **description},
        )(step_function)
        return step_function

    return enter
