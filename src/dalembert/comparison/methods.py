"""A method of a comparison: a registered stepper, perhaps composed, or a peer; how it is written, and how it is run and timed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dalembert.arrays import Array
from dalembert.errors import OptionError
from dalembert.peers import Outcome, find_peer, is_peer
from dalembert.runs import checks
from dalembert.runs.plan import Plan
from dalembert.runs.simulate import simulate
from dalembert.runs.trajectory import Trajectory
from dalembert.steppers.compose import find_composition

NODES = 20_000
TIMED = {"rigid-body": 1_000_000}  # steps that are done again to measure them; other families: NODES
SECONDS = 2.0  # and no more CPU time than that


@dataclass(frozen=True)
class Method:
    """Name, step (s), composition, and the relative tolerance of an adaptive peer."""

    name: str
    h: float
    compose: str | None = None
    rtol: float | None = None

    @property
    def label(self) -> str:
        """'cayley + suzuki4', 'scipy:dop853 (1e-12)'."""
        if self.compose is not None:
            return f"{self.name} + {self.compose}"
        return self.name if self.rtol is None else f"{self.name} ({self.rtol:g})"

    def check(self, model: Any, ignore: tuple[str, ...] = ()) -> None:
        """Raise for names that do not exist and models that the method cannot run, before anything is run."""
        if is_peer(self.name):
            find_peer(self.name).check(model, ignore)
            return
        Plan.of(model, self.name, self.h, self.compose, ignore, call="compare")

    def run(
        self,
        model: Any,
        q: Array,
        v: Array,
        t_end: float,
        repeats: int = 1,
        every: int | None = 1,
        ignore: tuple[str, ...] = (),
        progress: bool | None = False,
    ) -> Outcome:
        """The trajectory, to its end or to the step that failed, and the least CPU time of so many repetitions (0: not measured).

        every: keep the state every so many steps; None: such that at most about NODES are kept.
        """
        h, n = checks.step_count(self.h, t_end)
        every = bounding(n) if every is None else checks.check_every(every, n)
        if is_peer(self.name):
            peer = find_peer(self.name)
            return _best(lambda: peer.run(peer, model, q, v, h, n, self.rtol, every, ignore, progress), repeats)
        tolerances: dict[str, Any] = {} if self.rtol is None else {"rtol": self.rtol, "atol": self.rtol}
        traj = simulate(
            model,
            self.name,
            h=h,
            t_end=t_end,
            q0=q,
            v0=v,
            compose=self.compose,
            every=every,
            ignore=ignore,
            progress=progress,
            on_fail="return",
            **tolerances,
        )
        if traj.status == "interrupted":
            raise KeyboardInterrupt  # a comparison of parts of runs would mean nothing
        if not repeats:
            return Outcome(traj, float("nan"))
        return _best(lambda: Outcome(traj, stepping_seconds(traj)), repeats)


def bounding(n: int) -> int:
    """The smallest divisor of n steps that leaves at most NODES nodes; 1 where n has no divisor near that."""
    least = -(-n // NODES)
    return next((d for d in range(least, 10 * least) if n % d == 0), 1)


def _best(once: Callable[[], Outcome], repeats: int) -> Outcome:
    return min((once() for _ in range(max(1, repeats))), key=lambda outcome: outcome.seconds)


def stepping_seconds(traj: Trajectory) -> float:
    """CPU time of the steps of a run alone: done again on a fresh engine, after one step that loads the compiled code.

    Of a long run only the first steps are done again; the others cost as much. The engine runs the model as the run did: without what
    that ignored.
    """
    plan = Plan.from_meta(traj.model, traj.stepper, traj.meta)
    engine = plan.engine()
    every = int(traj.meta["every"])
    n = (len(traj) - 1) * every
    if not n:
        return 0.0
    engine.restart(traj.states[0], 0)
    engine.advance(1, 1)
    engine.restart(traj.states[0], 0)
    timed = min(n, TIMED.get(plan.family.name, NODES))
    part = max(1, timed // (10 * every)) * every
    done, spent = 0, 0.0
    while done < timed and spent < SECONDS:
        part = min(part, n - done)
        began = time.process_time()
        engine.advance(part, every)
        spent += time.process_time() - began
        done += part
    return spent * (n / done)


def split_name(name: Any) -> tuple[str, str | None]:
    """'cayley+suzuki4' -> ('cayley', 'suzuki4')."""
    if not isinstance(name, str) or not name.strip():
        raise OptionError(f"method {name!r}: expected a name such as 'cayley', 'cayley+suzuki4' or 'mujoco:rk4'.")
    stepper, plus, compose = (part.strip() for part in name.partition("+"))
    if plus:
        find_composition(compose)
    return stepper, compose if plus else None


def make_method(entry: Any) -> Method:
    """A Method from (name, h), (name, h, composition) or, for an adaptive peer, (name, h, rtol)."""
    if isinstance(entry, Method):
        return entry
    if not isinstance(entry, (list, tuple)) or len(entry) not in (2, 3):
        raise OptionError(f"method {entry!r}: expected (name, h), (name, h, composition) or (peer, h, rtol).")
    name, compose = split_name(entry[0])
    third = entry[2] if len(entry) == 3 else None
    if is_peer(name):
        peer = find_peer(name)
        if compose is not None or (third is not None and not peer.adaptive):
            raise OptionError(f"method {entry!r}: {name} takes neither a composition nor a tolerance.")
        return Method(name, checks.seconds(f"method {entry!r}: h", entry[1]), rtol=None if third is None else _number(entry, third))
    if compose is not None and third is not None:
        raise OptionError(f"method {entry!r}: two compositions, {compose!r} and {third!r}.")
    if third is not None:
        find_composition(third)
    return Method(name, checks.seconds(f"method {entry!r}: h", entry[1]), compose if third is None else third)


def _number(entry: Any, text: Any) -> float:
    try:
        return float(text)
    except (TypeError, ValueError):
        raise OptionError(f"method {entry!r}: {text!r} is not a number.") from None


def parse_method(text: str, h: float | None = None) -> Method:
    """A Method from text: 'cayley:0.01', 'cayley+suzuki4:0.01', 'mujoco:rk4:0.01', 'scipy:dop853:0.01:1e-12'.

    h: the step of methods that are given without one.
    """
    parts = [p.strip() for p in text.split(":")]
    if parts[0] in {"mujoco", "scipy"}:
        parts = [":".join(parts[:2]), *parts[2:]]
    if len(parts) == 1 and h is not None:
        parts.append(repr(h))
    if len(parts) not in (2, 3) or not all(parts):
        raise OptionError(
            f"method {text!r}: expected NAME:H, for example cayley:0.01, cayley+suzuki4:0.01, mujoco:rk4:0.01 or scipy:dop853:0.01:1e-12."
        )
    return make_method((parts[0], _number(text, parts[1]), *parts[2:]))
