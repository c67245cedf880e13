"""What a report needs to know about a run of a tree; limits as in facts.py.

Omega, the fastest rate, is the largest of: |omega| of every body; the relative rate of change of the velocity in the metric of the kinetic
energy, z = (sqrt(m) v, sqrt(I) omega) of every body and sqrt(armature) of every joint, seen between nodes and between a node and the
interval before it; the fastest vibration and the fastest decay about rest (linear_rates.py) at five nodes of the run.

For order 1 the limit is 2 h Omega: the energy of an oscillator under symplectic Euler fills a band of h Omega. Over some hundred random
trees the bands of correct runs stay below 0.55 of the limit (half of them below 0.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dalembert.arrays import Array
from dalembert.model import Model, forces
from dalembert.model.compile_tree import features
from dalembert.model.rows import Survey
from dalembert.report.facts import ORDER_CAP, Facts, size
from dalembert.report.linear_rates import fastest_rates
from dalembert.report.scale import lasting
from dalembert.runs.functions import given_functions

NODES = 5  # at which the forces are linearised
# energy is kept, as by forces with a potential
KEEPING = {"tree", "free", "pivot", "gravity", "stiffness", "armature", "loops", "nonholonomic"}
TAKING = {"damping", "joint friction"}  # energy is only taken


@dataclass(frozen=True)
class TreeFacts(Facts):
    """A run of bodies in joint coordinates. `model` is the one that the run saw: without what it ignored."""

    @cached_property
    def model(self) -> Model:
        """The model without the features that the run ignored."""
        return self.traj._run_model  # type: ignore[no-any-return]

    @cached_property
    def features(self) -> set[str]:
        """Features of the model that acted."""
        functions = {"function"} if self.traj.meta.get("functions") else set()  # a file does not hold them
        return set(features(self.model)) | functions

    @cached_property
    def working(self) -> set[str]:
        """Those of them that may change the energy."""
        return self.features - KEEPING - forces.features(conservative=True)

    @property
    def damped(self) -> bool:
        """A damper acts, on a body, in a joint or in a spring."""
        return "damping" in self.features

    @property
    def controlled(self) -> bool:
        """A control acted; one that never pushed is none."""
        pushed = self.traj._account.get("push")
        return super().controlled and (pushed is None or not np.isfinite(pushed).all() or bool(pushed.any()))

    @property
    def stopped(self) -> bool:
        """A joint came to a limit, or nobody knows."""
        return bool(np.any(self.traj._account.get("limits", np.ones(1)) != 0.0))

    @property
    def strikes(self) -> bool:
        """Bodies strike each other, and the account holds what impacts take."""
        return "impacts" in self.traj._account

    @property
    def uncounted(self) -> bool:
        """Something may give energy to the machine, and nobody counts how much."""
        giving = self.working - TAKING - ({"limits"} if self._within_limits else set())
        return bool(giving or self.controlled) and not self.has_ledger

    @property
    def _within_limits(self) -> bool:
        """No limit, which is a spring, is strained at the start."""
        q, at = self.traj.q[0], self.model.q_slices()
        limited = [(j.limits, q[at[j.name]]) for j in self.model.joints if j.limits is not None and j.kind != "spherical"]
        return all(float(lo) <= float(x[0]) <= float(hi) for (lo, hi), x in limited)

    @property
    def unsolved(self) -> float:
        """Newton's method ends where it expects the next correction to be below the tolerance."""
        return self.tol if self.family.expects else super().unsolved

    @property
    def split(self) -> int:
        """Recorded intervals in which a step was split."""
        return int(np.count_nonzero(self.traj.solver["substeps"]))

    # scales ------------------------------------------------------------------------------------------------------------------------

    @cached_property
    def survey(self) -> Survey:
        """Rates, reaches and changes of all bodies at the nodes."""
        return self.survey_about(np.zeros(3))

    def survey_about(self, centre: Array) -> Survey:
        """The same, with moments about another point than the origin."""
        key = tuple(np.asarray(centre, dtype=float).tolist())
        if key not in self._surveys:
            self._surveys[key] = self.model._states().survey(self.traj.q, self.traj.v, centre)  # type: ignore[union-attr]
        return self._surveys[key]

    @cached_property
    def _surveys(self) -> dict[tuple[float, ...], Survey]:
        return {}

    @cached_property
    def reaches(self) -> Array:
        """Greatest distance of a body or anchor from the world origin at each node, m: the size of the numbers that cancel."""
        anchors = max((float(np.linalg.norm(j.anchor)) for j in self.model.joints), default=0.0)
        return np.asarray(np.maximum(self.survey.reach, anchors))

    @cached_property
    def extent(self) -> float:
        """Size of the machine at the reference configuration, m: of the box around origins and anchors, and a radius of gyration."""
        bodies = self.model.bodies
        anchors = [*(j.anchor for j in self.model.joints if not j.coordinates.absolute), *(x.anchor for x in self.model.loops)]
        points = [*(b.position for b in bodies), *anchors]
        gyration = [float(np.sqrt(np.trace(b.inertia) / b.mass)) + float(np.linalg.norm(b.com)) for b in bodies if b.mass > 0.0]
        return float(np.ptp(np.array(points), axis=0).max()) + max(gyration, default=0.0)

    @property
    def turns(self) -> float:
        """Turns of the body that turns fastest: mean |omega| T / (2 pi)."""
        fastest = float(np.max(np.mean(self.survey.spins, axis=0), initial=0.0))
        return fastest * float(self.traj.t[-1] - self.traj.t[0]) / (2.0 * np.pi)

    @cached_property
    def own_rate(self) -> float:
        """Omega without the rate of change that the run shows, 1/s."""
        return max(float(np.max(self.survey.spins[self.regular], initial=0.0)), *self._linear_rates())

    @cached_property
    def changes(self) -> Array:
        """|dz/dt| between nodes."""
        return self.survey.changes / (self.traj.h * self.traj.meta["every"])

    def _change_rate(self) -> float:
        """Largest lasting |dz/dt| / max |z| of regular nodes; |z|^2 = 2 T, and z is linear in v."""
        traj, ok = self.traj, self.regular
        scale = float(np.sqrt(2.0 * np.max(traj.kinetic[ok], initial=0.0)))
        if not scale > 0.0 or len(traj) < 2:
            return 0.0
        apart = self.model.kinetic_energy(traj.q[1:], traj.v[1:] - traj.v_interval)
        before = 2.0 * np.sqrt(2.0 * np.maximum(apart, 0.0)) / traj.h
        return max(lasting(self.changes, ok[1:] & ok[:-1]), lasting(before, ok[1:])) / scale

    def order_error(self, growth: float = 0.0) -> float:
        """As for bodies, twice that for methods of order 1."""
        return (2.0 if self.order == 1 else 1.0) * super().order_error(growth)

    def balance_limit(self, promised: bool) -> float:
        """What a balance against the account may miss; it adds up over the run for methods that promise nothing."""
        duration = float(self.traj.t[-1] - self.traj.t[0])
        error = (2.0 if self.order == 1 else 1.0) * (self.traj.h * self.rate) ** self.balance_order
        return min(error * (1.0 if promised else 1.0 + self.rate * duration), ORDER_CAP) + self.exact_limit

    @cached_property
    def turned_over(self) -> str:
        """Name of a ball joint with a spring that came to half a turn, where the spring's force jumps; '' if none did."""
        at, at_v = self.model.q_slices(), self.model.v_slices()
        for j in self.model.joints:
            if j.kind == "spherical" and j.stiffness > 0.0:
                angle = np.linalg.norm(j.coordinates.strain(self.traj.q[:, at[j.name]], j.rest), axis=-1)
                step = self.traj.h * self.traj.meta["every"] * size(self.traj.v[:, at_v[j.name]])
                if float(angle.max()) > np.pi - max(0.05, 2.0 * step):
                    return j.name
        return ""

    def _linear_rates(self) -> tuple[float, float]:
        """Fastest vibration and fastest decay about rest."""
        there = np.flatnonzero(self.regular)
        nodes = there[np.unique(np.linspace(0, len(there) - 1, NODES).astype(int))] if len(there) else [0]
        functions = given_functions(self.model)
        rates = [fastest_rates(self.model, self.traj.q[k], float(self.traj.t[k]), functions, self._stops, self.damped) for k in nodes]
        return max(r[0] for r in rates), max(r[1] for r in rates)

    @cached_property
    def _stops(self) -> Array:
        """Stiffness of the limits of each joint, (nv,), where limits were reached."""
        out, at = np.zeros(self.model.nv), self.model.v_slices()
        if "limits" in self.features and self.stopped:
            for j in self.model.joints:
                out[at[j.name]] = 0.0 if j.limits is None else self.traj.meta["options"].get("limit_stiffness", 0.0)
        return out
