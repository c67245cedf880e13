"""What a report needs to know about a run: forces, symmetries, scales, and how accurate the method can be.

Two kinds of limits are used throughout. With N steps (substeps of a composition counted) and eps = 2.2e-16:

    exact    max(1e-11, eps N)           round-off: each step may add eps of the scale, all with the same sign
    order    min((h Omega)^p, 0.2)       p the order; Omega the fastest rate that the run shows or the model implies; plus the exact limit

All energies are relative to T, the energy scale of the run, and limits follow from its regular nodes: see scale.py.

Omega is the largest of: |omega|; the relative rate of change of the velocity, seen between nodes and between a node and the interval before
it; sqrt(m g l / J) of a hanging body; damping / inertia; sqrt(torque / J) of the wrenches. J is the smallest inertia. With this Omega the
errors of correct runs of order 2 stay below a third of the limit (measured over some thousand random bodies, forces and step sizes).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import UnknownNameError
from dalembert.families import Family, family_named, find_family
from dalembert.model.kinematics import frames
from dalembert.model.rotation import quat_conj, rotate
from dalembert.registry import steppers
from dalembert.report.scale import EnergyScale, energy_scale, lasting
from dalembert.steppers.compose import find_composition

EPS = float(np.finfo(float).eps)
EXACT_FLOOR = 1e-11
SEAM = 2e-9  # of a step of a plan: twice what `verify` allows
ORDER_CAP = 0.2
_KNOWN_FORCES = {"gravity", "wrench", "damping"}


def size(a: Array) -> float:
    """The largest length of the rows of an array; 0 for none."""
    return float(np.sqrt(np.max(np.sum(np.square(a), axis=-1), initial=0.0)))


def ratio(error: float, scale: float) -> float:
    """error / scale, 0 where both vanish."""
    return 0.0 if error == 0.0 else float(error / scale) if scale > 0.0 else float("inf")


@dataclass(frozen=True)
class Facts:
    """A run seen through its model: one rigid body, free or on a ball joint."""

    traj: Any

    # the run ---------------------------------------------------------------------------------------------------------------------

    @property
    def family(self) -> Family:
        """How the run's system became arrays."""
        return family_named(self.traj.meta["family"])

    @cached_property
    def steps(self) -> int:
        """Steps from the first to the last recorded node, substeps counted."""
        return (len(self.traj) - 1) * int(self.traj.meta["every"]) * self.substeps

    @cached_property
    def _composition(self) -> Any:
        name = self.traj.meta.get("compose")
        try:
            return find_composition(name) if name else None
        except UnknownNameError:
            return None

    @property
    def substeps(self) -> int:
        """Substeps of a composition, else 1."""
        return len(self._composition.weights) if self._composition else 1

    @property
    def order(self) -> int:
        """Order of the method; 1 where forces given as functions were held over the steps."""
        return 1 if self.traj.meta.get("held_functions") else self.method_order

    @property
    def method_order(self) -> int:
        """Order of the method by itself, composition included; at most that of the step that its option `base` names."""
        if self._composition:
            return self._composition.order  # type: ignore[no-any-return]
        stepper, base = self.traj.stepper, self.traj.meta.get("options", {}).get("base")
        bases = [s.order for s in steppers(system=stepper.system, name=base)] if base else []
        return min([stepper.order, *bases])

    @cached_property
    def has_ledger(self) -> bool:
        """True if work and impulse are known (not with plain-Python steppers)."""
        return bool(np.isfinite(self.traj.work).all() and np.isfinite(self.traj.impulse).all())

    def promise(self, quantity: str) -> str | None:
        """What the stepper promises."""
        return self.traj.stepper.promise(quantity)

    @property
    def model(self) -> Any:
        """The model without the features that the run ignored."""
        return self.traj._run_model

    # forces and symmetries ---------------------------------------------------------------------------------------------------------

    @cached_property
    def features(self) -> set[str]:
        """Features of the model that acted."""
        return set(find_family(self.model).features(self.model))

    @cached_property
    def unknown(self) -> set[str]:
        """Forces that no ledger knows, which make energy and momentum impossible to judge."""
        return self.features - _KNOWN_FORCES - {"free", "pivot"}

    @property
    def gravity(self) -> bool:
        """Gravity acts."""
        return "gravity" in self.features

    @property
    def damped(self) -> bool:
        """A damper acts."""
        return "damping" in self.features

    @property
    def controlled(self) -> bool:
        """The run had a control."""
        return self.traj.meta.get("control") is not None

    @property
    def only_gravity(self) -> bool:
        """No force but gravity, if that."""
        silent = self.controlled and self.has_ledger and not self.gravity and not self.traj.impulse.any() and not self.traj.work.any()
        return not self.features & {"wrench", "damping"} and (not self.controlled or silent)

    @property
    def conservative(self) -> bool:
        """No force works but gravity; a control that never did any work counts as none."""
        idle = self.controlled and self.has_ledger and not self.traj.work.any()
        return not self.features & {"wrench", "damping"} and (not self.controlled or idle)

    @property
    def pivot(self) -> Array | None:
        """World position of the fixed point; None for a free body."""
        joint = self.model.joints[0]
        return joint.anchor if joint.kind == "spherical" else None

    @cached_property
    def arm(self) -> Array:
        """Centre of mass from the reference point (pivot, or the centre of mass itself), body axes."""
        body = self.model.bodies[0]
        if self.pivot is None:
            return np.zeros(3)
        return body.com - rotate(quat_conj(body.quaternion), self.pivot - body.position)

    @cached_property
    def inertia(self) -> Array:
        """3x3 about the reference point, body axes."""
        body = self.model.bodies[0]
        return body.inertia + body.mass * (self.arm @ self.arm * np.eye(3) - np.outer(self.arm, self.arm))

    @property
    def torque_free(self) -> bool:
        """No torque about the reference point: no force but gravity, and that on the reference point."""
        return self.only_gravity and (not self.gravity or not self.arm.any())

    # scales ------------------------------------------------------------------------------------------------------------------------

    @property
    def omega(self) -> Array:
        """Angular velocity at the nodes, body axes."""
        return self.traj.v[:, :3]

    @cached_property
    def com(self) -> Array:
        """World position of the centre of mass at the nodes."""
        body = self.model.bodies[0]
        frame = frames(self.model, self.traj.q)[body.name]
        return frame.position + rotate(frame.quaternion, body.com)

    @cached_property
    def spin(self) -> Array:
        """Angular momentum about the reference point by the rotation alone, body axes: I omega."""
        return self.omega @ self.inertia

    @property
    def uncounted(self) -> bool:
        """Something may give energy to the system, and nobody counts how much."""
        driven = self.controlled or "wrench" in self.features
        return bool(self.unknown) or (driven and not self.has_ledger)

    @cached_property
    def reaches(self) -> Array:
        """Greatest distance of a body from the world origin at each node, m: the size of the numbers that cancel."""
        return np.asarray(np.linalg.norm(self.com, axis=-1))

    @property
    def reach(self) -> float:
        """The same over all regular nodes."""
        return float(np.max(self.reaches[self.regular], initial=0.0))

    @property
    def weight(self) -> float:
        """Weight of the system, N."""
        return float(self.traj.model.total_mass * np.linalg.norm(self.traj.model.gravity))

    @cached_property
    def energy_noise(self) -> float:
        """Round-off of the energies, J: 16 eps of those of the start, and of weight times distance from the origin."""
        start = float(self.traj.kinetic[0] + 2.0 * abs(self.traj.potential[0]))
        return 16.0 * EPS * (start + self.weight * float(self.reaches[0]))

    @cached_property
    def _scale(self) -> EnergyScale:
        work = None if self.uncounted else self.traj.work if self.has_ledger else np.zeros(len(self.traj))
        takes = self.damped and not self.has_ledger
        return energy_scale(self.traj.kinetic, self.traj.potential, work, takes, self.energy_noise)

    @property
    def kinetic_scale(self) -> float:
        """T, the largest kinetic energy that the start of the run explains, J."""
        return self._scale.scale

    @property
    def regular(self) -> Any:
        """Nodes whose energy is explained."""
        return self._scale.regular

    @property
    def excess(self) -> Array:
        """E - E(0) - work at the nodes, J; 0 where nobody counts the work."""
        return self._scale.excess

    @property
    def turns(self) -> float:
        """Turns of the body: mean |omega| T / (2 pi)."""
        return float(np.mean(np.linalg.norm(self.omega, axis=-1)) * (self.traj.t[-1] - self.traj.t[0]) / (2.0 * np.pi))

    @cached_property
    def rate(self) -> float:
        """Omega, 1/s."""
        return max(self.own_rate, self._change_rate())

    @cached_property
    def own_rate(self) -> float:
        """Omega without the rate of change that the run shows, 1/s."""
        return max(size(self.omega[self.regular]), *self._model_rates())

    @cached_property
    def motion(self) -> tuple[Array, Array]:
        """z = sqrt(m) (r omega, v), r the radius of gyration: |z|^2 is about 2 T; at the nodes, and in the intervals before them."""
        model = self.model
        radius = np.sqrt(np.trace(self.inertia) / model.total_mass)
        weights = np.sqrt(model.total_mass) * np.array([radius] * 3 + [1.0] * (model.nv - 3))
        return self.traj.v * weights, self.traj.v_interval * weights

    @cached_property
    def changes(self) -> Array:
        """|dz/dt| between nodes."""
        return np.asarray(np.linalg.norm(np.diff(self.motion[0], axis=0), axis=1) / (self.traj.h * self.traj.meta["every"]))

    def _change_rate(self) -> float:
        """Largest lasting |dz/dt| / max |z| of regular nodes, seen between nodes and between a node and the interval before it."""
        (z, interval), ok = self.motion, self.regular
        scale = size(z[ok])
        if not scale > 0.0 or len(z) < 2:
            return 0.0
        before = 2.0 * np.linalg.norm(z[1:] - interval, axis=1) / self.traj.h
        return max(lasting(self.changes, ok[1:] & ok[:-1]), lasting(before, ok[1:])) / scale

    @property
    def first_error(self) -> float:
        """Energy error of a single step relative to T, 2 h |z| |dz/dt| (h Omega)^(p-1) / T; 0 for runs longer than 1/Omega.

        From rest T grows like the square of time: a run of a few steps has not outgrown the error of the first one.
        """
        h, own = self.traj.h, self.own_rate
        if len(self.traj) < 2 or own * float(self.traj.t[-1] - self.traj.t[0]) >= 1.0:
            return 0.0
        fastest = lasting(self.changes, np.isfinite(self.changes))
        return ratio(2.0 * h * np.sqrt(2.0 * self.kinetic_scale) * fastest * (h * own) ** (self.order - 1), self.kinetic_scale)

    def _model_rates(self) -> tuple[float, ...]:
        """Rates that the model implies: hanging under gravity, damping, turning under its wrenches."""
        model, body, joint = self.model, self.model.bodies[0], self.model.joints[0]
        least = float(np.linalg.eigvalsh(self.inertia)[0])
        reference = body.com - self.arm
        angular, linear, torque = joint.damping, joint.damping if self.pivot is None else 0.0, 0.0
        for f in model.forces:
            if f.kind == "damper":
                angular, linear = angular + f.angular + f.linear * float(self.arm @ self.arm), linear + f.linear
            elif f.kind == "wrench":
                torque += float(np.linalg.norm(f.torque) + np.linalg.norm(np.array(f.point) - reference) * np.linalg.norm(f.force))
        hanging = body.mass * np.linalg.norm(model.gravity) * np.linalg.norm(self.arm)
        return (float(np.sqrt(hanging / least)), angular / least + linear / body.mass, float(np.sqrt(torque / least)))

    # limits ------------------------------------------------------------------------------------------------------------------------

    @property
    def exact_limit(self) -> float:
        """Round-off: max(1e-11, eps N), and the seams of a plan."""
        return max(EXACT_FLOOR, EPS * self.steps) + self.seams

    @property
    def ledger_limit(self) -> float:
        """Round-off of the forces and of their ledger, max(1e-11, 8 eps N): in a steady state every step rounds the same way."""
        return max(EXACT_FLOOR, 8.0 * EPS * self.steps) + self.seams

    @property
    def seams(self) -> float:
        """Of a plan, whose steps all start anew at its nodes: by how much they miss these, added up; 0 of a run. What misses more than a
        plan may is no excuse: SEAM for each step at most."""
        found = float((self.traj.meta.get("plan") or {}).get("seams", 0.0))
        return min(found, SEAM * self.steps) if found > 0.0 else 0.0

    @property
    def tol(self) -> float:
        """The tolerance of the stepper's equations; 0 for those that solve none."""
        return float(self.traj.meta.get("options", {}).get("tol", 0.0))

    @property
    def unsolved(self) -> float:
        """What a step leaves of its equations, relative: a last correction follows the residual r <= tol, and leaves r^2."""
        return min(float(np.max(self.traj.solver["residual"], initial=0.0)), self.tol) ** 2

    @property
    def solved_limit(self) -> float:
        """Round-off, and what the steps leave of their equations."""
        return self.exact_limit + self.steps * self.unsolved

    def order_error(self, growth: float = 0.0) -> float:
        """(h Omega)^p (1 + Omega T)^growth: growth 0 for errors that stay bounded, 1/2 if they wander, 1 if they add up."""
        duration = float(self.traj.t[-1] - self.traj.t[0])
        return float((self.traj.h * self.rate) ** self.order * (1.0 + self.rate * duration) ** growth)

    def order_limit(self, growth: float = 0.0) -> float:
        """The order error, at most 0.2, and round-off."""
        return min(self.order_error(growth), ORDER_CAP) + self.exact_limit

    @property
    def balance_order(self) -> int:
        """Order to which energy and momentum follow the ledger."""
        return self.order

    def balance_limit(self, promised: bool) -> float:
        """What a balance against the ledger may miss; it adds up over the run for methods that promise nothing."""
        return self.order_limit(0.0 if promised else 1.0)

    def noise(self, scale: float) -> float:
        """Round-off of the energies, relative to a scale that may be smaller than they are."""
        return ratio(self.energy_noise, scale)
