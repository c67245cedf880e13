"""What a scene is, and how it enters the list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dalembert.arrays import Array


@dataclass(frozen=True)
class Scene:
    """A machine, a `Model` or a `Lagrangian`, with a state to start from: shared by tests, examples, benchmarks and pictures.

    h, t_end in s; stepper: the method that shows it best (None: the first that handles the model); references: keys of the bibliography.
    chaotic: neighbouring motions separate exponentially, so two methods agree for a short time only.
    exact: t (n,) -> q (n, nq), the closed form, where there is one.
    """

    name: str
    summary: str
    build: Callable[[], Any] = field(repr=False)
    q0: Any = None
    v0: Any = None
    h: float = 0.01
    t_end: float = 10.0
    stepper: str | None = "cayley"
    chaotic: bool = False
    references: tuple[str, ...] = ()
    exact: Callable[[Any], Array] | None = field(default=None, repr=False)

    def model(self) -> Any:
        """A new model that may be changed, or a Lagrangian, which may not."""
        return self.build()

    def simulate(self, **override: Any) -> Any:
        """`dal.simulate` with the settings of the scene; any argument of it can be given instead."""
        from dalembert.runs.simulate import simulate

        settings = {"stepper": self.stepper, "h": self.h, "t_end": self.t_end, "q0": self.q0, "v0": self.v0}
        return simulate(self.model(), **{**settings, **override})


SCENES: dict[str, Scene] = {}


def register(scene: Scene) -> Scene:
    """Enter a scene into the list."""
    SCENES[scene.name] = scene
    return scene
