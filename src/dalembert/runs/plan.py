"""`Plan`: everything that is decided before a run, decided once and in one place.

    plan = Plan.of(system, "midpoint", h=0.01, compose="suzuki4", ignore=("limits",), tol=1e-12)
    q, v = plan.start({"knee": 0.3}, None)
    engine = plan.engine(control)

`simulate`, `resume`, `Simulation`, `compare`, `check_stepper` and `load` all go through here; nobody else chooses a stepper or makes an
engine. A plan is constant and may be shared by threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dalembert.arrays import Array
from dalembert.families import Family, find_family
from dalembert.registry import Stepper, version
from dalembert.runs import checks, environment
from dalembert.runs.choice import choose_stepper
from dalembert.runs.composition import composition_weights
from dalembert.runs.controls import combined, kind_of
from dalembert.runs.engines import Engine, find_engine
from dalembert.runs.functions import Functions, given_functions
from dalembert.systems import System, as_system

AUTO = "auto"


@dataclass(frozen=True)
class Plan:
    """What runs, and how.

    system: the whole machine, frozen; acting: it without what is ignored; family: how it becomes arrays; options: of the stepper, all of
    them, checked; weights: of the substeps of a composition. h: s; 0 where it is yet to be certified. given: the machine as the user knows
    it, where the family has coordinates of its own; system and acting are then both what runs. coordinates: what a file says of its joints.
    """

    system: System
    acting: System
    family: Family
    stepper: Stepper
    h: float
    compose: str | None = None
    weights: tuple[float, ...] = (1.0,)
    options: dict[str, Any] = field(default_factory=dict)
    ignore: tuple[str, ...] = ()
    given: System | None = None
    coordinates: Any = None
    _made: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)  # what was computed for it, shared by all steps

    @classmethod
    def of(
        cls,
        system: Any,
        stepper: str | None = None,
        h: Any = 0.01,
        compose: str | None = None,
        ignore: Any = (),
        call: str = "simulate",
        **options: Any,
    ) -> Plan:
        """`chosen`, with the options of the stepper by name."""
        return cls.chosen(call, system, stepper, h, compose, ignore, options)

    @classmethod
    def chosen(
        cls, call: str, system: Any, stepper: str | None, h: Any, compose: str | None, ignore: Any, options: Mapping[str, Any]
    ) -> Plan:
        """Choose and check. options: whatever a user gave by name; what is no option of the stepper is refused by name.

        h="auto": of the steppers whose step sizes are proved, with h = 0 until `at` tells. call: whom errors name.
        What was decided is kept with the frozen system: the same question has the same answer as long as no stepper is registered.
        """
        whole = as_system(system, call).frozen()
        ignored = whole.check_features(ignore)
        automatic = isinstance(h, str) and h == AUTO
        step = 0.0 if automatic else checks.seconds("h", h)
        kept = whole.kept("plans")
        key: tuple[Any, ...] | None = (stepper, compose, ignored, automatic, version(), *sorted(options.items()))
        try:
            found = kept.get(key)
        except TypeError:  # an option that is no number; what is wrong with it, `resolve` says
            key, found = None, None
        if found is None and key is not None and whole.origin is not None:
            like = cls.chosen(call, whole.origin, stepper, h, compose, ignore, options)
            if like.given is None:
                found = kept[key] = like.on(whole)
        if found is None:
            family, method = choose_stepper(whole, stepper, ignored, proved=automatic)
            acting = whole.without(ignored)
            weights = composition_weights(compose, method, acting, family, h)
            found = cls(whole, acting, family, method, 0.0, compose, weights, method.resolve(options), ignored)
            if family.enter is not None:
                there = family.enter(acting)
                found = found._with(system=there, acting=there, given=acting)
            if key is not None:
                kept[key] = found
        return found.at(step)

    @classmethod
    def from_meta(cls, system: System, stepper: Stepper, meta: dict[str, Any]) -> Plan:
        """The plan of a run that a file tells of; stepper: the method that it names, restored."""
        ignored = tuple(meta.get("ignore", ()))
        acting = system.without(ignored)
        family = find_family(acting, meta["family"])
        weights = composition_weights(meta["compose"], stepper, acting, family, meta["h"])
        plan = cls(system, acting, family, stepper, float(meta["h"]), meta["compose"], weights, dict(meta["options"]), ignored)
        return plan._with(coordinates=meta.get("coordinates"))

    @classmethod
    def bare(cls, system: System, stepper: Stepper, h: float, weights: Any = (1.0,), **options: Any) -> Plan:
        """A stepper on a system as they are, without asking whether they fit: for tests of methods. h may be negative."""
        family = find_family(system, None if stepper.python else stepper.family_name)
        return cls(system, system, family, stepper, h, None, tuple(weights), stepper.resolve(options))

    def at(self, h: float) -> Plan:
        """The same with another step."""
        return self._with(h=h)

    def on(self, system: System) -> Plan:
        """The same for a system that differs in numbers alone."""
        return self._with(system=system, acting=system.without(self.ignore), _made={})

    def _with(self, **values: Any) -> Plan:
        other = object.__new__(Plan)
        other.__dict__.update(self.__dict__, **values)
        return other

    def __getstate__(self) -> dict[str, Any]:
        """Pickled without what was computed: arrays hold where kernels are in this process."""
        return {**self.__dict__, "_made": {}}

    def start(self, q0: Any, v0: Any) -> tuple[Array, Array]:
        """A start, checked: names, sizes, joints that it has to meet. Driven coordinates are those of t = 0.

        Of the machine as its user knows it: `enter_state` gives that of the family.
        """
        if self.given is not None:
            machine: Any = self.given
            return machine.driven_start(machine.check_q(q0), machine.check_v(v0))  # type: ignore[no-any-return]
        q, v = self.acting.driven_start(self.system.check_q(q0), self.system.check_v(v0))
        self.acting.check_start(self.stepper, q, v, self.ignore)
        return q, v

    def enter_state(self, q: Array, v: Array) -> tuple[Array, Array]:
        """The state that runs, from one of the machine as its user knows it."""
        return (q, v) if self.given is None or self.family.enter_state is None else self.family.enter_state(self.given, q, v)

    @property
    def functions(self) -> list[Any]:
        """Forces given as functions."""
        return self.once("functions", lambda: given_functions(self.acting if self.given is None else self.given))  # type: ignore[no-any-return]

    @property
    def evaluates_functions(self) -> bool:
        """True if forces given as functions are called where the step evaluates its forces; False: there are none, or they are held."""
        return bool(self.functions) and "function" in self.stepper.handles and self.stepper.engine_name == "compiled"

    @property
    def pace(self) -> int:
        """Steps that a run may do before it looks up, as far as earlier runs tell; 0: there was none."""
        return int(self._made.get("pace", 0))

    def keep_pace(self, steps: int) -> None:
        """What a run tells later ones."""
        self._made["pace"] = steps

    @property
    def keeps_account(self) -> bool:
        """True if runs without a control keep an account."""
        return bool(self.once("account", lambda: self.family.keeps_account(self.acting, False)))

    def arrays(self, functions: Functions | None = None) -> Array:
        """The system as the one constant array of the compiled loop, read-only and shared by all runs of the plan.

        functions: forces that the steps call; their address is in an array of their own.
        """
        if functions is not None:
            return self.family.arrays(self.acting, self.stepper, self.options, self.weights, functions.address)
        return self.once("array", self._shared_array)

    def _shared_array(self) -> Array:
        made = self.family.arrays(self.acting, self.stepper, self.options, self.weights)
        made.flags.writeable = False
        return made

    def once(self, name: Any, make: Callable[[], Any]) -> Any:
        """What all runs of the plan share: made by the first that asks."""
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]

    def engine(self, control: Any = None) -> Engine:
        """What advances a state. Functions that the steps cannot call are held over the step, like a control."""
        held = [] if self.evaluates_functions else self.functions
        return self._engine_class()(self, combined(control, held) if held else control)

    def read(self, states: Array, controlled: bool) -> dict[str, Any]:
        """q, v and what else recorded states tell; controlled: a control, or a function, acted in that run."""
        return self._engine_class().read(self, states, controlled)

    def _engine_class(self) -> Any:
        return self.once("engine", lambda: find_engine(self.stepper.engine_name))

    def meta(self, control: Any = None) -> dict[str, Any]:
        """What a file must say about a run beside its model."""
        return {
            "stepper": self.stepper.name,
            "method": self.stepper.name if self.compose is None else f"{self.stepper.name} + {self.compose}",
            "family": self.family.name,
            "h": self.h,
            "t_end": 0.0,
            "every": 1,
            "compose": self.compose,
            "options": self.options,
            "ignore": list(self.ignore),
            "control": kind_of(control),
            "versions": environment.versions(),
            "machine": environment.machine(),
            "status": "ok",
        }
