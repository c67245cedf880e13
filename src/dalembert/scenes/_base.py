"""What a scene is, and how it enters the list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from dalembert.arrays import Array


class Finding(NamedTuple):
    """What a check found: a number, and the most that it may be."""

    what: str
    value: float
    most: float

    @property
    def ok(self) -> bool:
        """NaN is not."""
        return bool(self.value <= self.most)


@dataclass(frozen=True)
class Scene:
    """A machine, a `Model` or a `Lagrangian`, with a state to start from: shared by tests, examples, benchmarks and pictures.

    h, t_end in s; stepper: the method that shows it best (None: the first that handles the model); references: keys of the bibliography.
    chaotic: neighbouring motions separate exponentially, so two methods agree for a short time only.
    exact: t (n,) -> q (n, nq), the closed form, where there is one.
    check: trajectory -> findings, what a run of the scene as it stands must show; control, options: of `simulate`.
    small: builds the same with fewer bodies, where a run in full takes a minute; the check holds for both.
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
    check: Callable[[Any], list[Finding]] | None = field(default=None, repr=False)
    control: Any = field(default=None, repr=False)
    options: dict[str, Any] = field(default_factory=dict)
    small: Callable[[], Any] | None = field(default=None, repr=False)

    def reduced(self) -> Scene:
        """The scene with its small build, for tests; itself where it has none."""
        return self if self.small is None else replace(self, build=self.small, small=None)

    def model(self) -> Any:
        """A new model that may be changed, or a Lagrangian, which may not."""
        return self.build()

    def simulate(self, **override: Any) -> Any:
        """`dal.simulate` with the settings of the scene; any argument of it can be given instead."""
        from dalembert.runs.simulate import simulate

        settings = {"stepper": self.stepper, "h": self.h, "t_end": self.t_end, "q0": self.q0, "v0": self.v0, "control": self.control}
        options = self.options if override.get("stepper", self.stepper) == self.stepper else {}
        return simulate(self.model(), **{**settings, **options, **override})


SCENES: dict[str, Scene] = {}


def register(scene: Scene) -> Scene:
    """Enter a scene into the list."""
    SCENES[scene.name] = scene
    return scene
