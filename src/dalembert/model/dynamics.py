"""Dynamics functions of a model: the compiled tree kernels behind plain arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import OptionError
from dalembert.kernels._far import raise_pending
from dalembert.kernels._jit import first_class
from dalembert.kernels.tree import jacobian
from dalembert.kernels.tree import layout as at
from dalembert.kernels.tree.aba import accelerations
from dalembert.kernels.tree.crba import mass_matrix
from dalembert.kernels.tree.energy import gravity_gradient, momenta
from dalembert.kernels.tree.jacobian import body_jacobian
from dalembert.kernels.tree.kinematics import sweep, world
from dalembert.kernels.tree.loads import passive as joint_forces
from dalembert.kernels.tree.rnea import inverse_dynamics
from dalembert.model import compile_tree
from dalembert.model.workspace import Workspaces

if TYPE_CHECKING:
    from dalembert.model.model import Model
    from dalembert.model.rows import StateRows


def _shaped(what: str, values: Any, n: int) -> Array:
    try:
        a = np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise OptionError(f"{what} is {values!r}; expected {n} numbers.") from None
    if a.shape != (n,):
        raise OptionError(f"{what} has shape {a.shape}; expected ({n},).")
    return a


class TreeDynamics:
    """Arrays of one model, and its kernels. Every thread has a workspace of its own."""

    def __init__(self, model: Model):
        self.nq, self.nv = model.nq, model.nv
        self.system = compile_tree.system_array(model, {})
        self.places = compile_tree.build_tree(model).places
        self.bare = self.system.copy()  # without the loads of the model
        self.bare[at.LOADS] = 0
        self.at_matrix = compile_tree.work_size(self.system)
        self._given: dict[str, Array] = {}
        self._works = Workspaces(self.at_matrix + self.nv * max(self.nv, 6))
        self.rows: StateRows | None = None  # made when it is first asked for
        self.q, self.v, self.tau, self.acc = (int(self.system[k]) for k in (at.AT_Q, at.AT_V, at.AT_TAU, at.AT_ACC))

    @property
    def work(self) -> Array:
        """The workspace of this thread."""
        return self._works.mine

    def checked(self, q: Any, v: Any, tau: Any) -> tuple[Array, Array, Array]:
        """q, v and tau as arrays of the right shapes."""
        return _shaped("q", q, self.nq), _shaped("v", v, self.nv), _shaped("tau", tau, self.nv)

    def _put(self, where: int, what: str, values: Any, n: int) -> None:
        self.work[where : where + n] = _shaped(what, values, n)

    def _state(self, q: Any, v: Any = None) -> None:
        self._put(self.q, "q", q, self.nq)
        self._put(self.v, "v", np.zeros(self.nv) if v is None else v, self.nv)

    def mass_matrix(self, q: Any) -> Array:
        """M(q), (nv, nv), armatures included."""
        self._state(q)
        sweep(self.system, self.work, self.q, self.v)
        mass_matrix(self.system, self.work, self.at_matrix)
        return self.work[self.at_matrix : self.at_matrix + self.nv * self.nv].reshape(self.nv, self.nv).copy()

    def forward_dynamics(self, q: Any, v: Any, tau: Any = None) -> Array:
        """Accelerations under tau and all forces of the model."""
        self._state(q, v)
        self._put(self.tau, "tau", np.zeros(self.nv) if tau is None else tau, self.nv)
        found = accelerations(self.system, self.work, self.q, self.v, self.tau, self.acc)
        raise_pending()
        if not found:
            raise OptionError("forward dynamics: the tree has a joint without inertia behind it; add mass or armature.")
        return self.work[self.acc : self.acc + self.nv].copy()

    def inverse_dynamics(self, q: Any, v: Any, a: Any, passive: bool = True) -> Array:
        """Generalised forces that, beside all forces of the model, give the accelerations a; passive=False: beside gravity alone."""
        self._state(q, v)
        self._put(self.acc, "a", a, self.nv)
        work = self.work
        inverse_dynamics(self.system if passive else self.bare, work, self.q, self.v, self.acc, self.tau)
        raise_pending()
        found = work[self.tau : self.tau + self.nv].copy()
        if not passive:
            return found
        work[self.tau : self.tau + self.nv] = 0.0
        joint_forces(self.system, work, self.q, self.v, self.tau)
        return found - work[self.tau : self.tau + self.nv]

    def jacobian(self, body: str, q: Any) -> Array:
        """(6, nv): twist of the body frame (angular first, body axes) = J v; zero for a body that is fixed to the world."""
        place = self.places[body]
        if place.link < 0:
            return np.zeros((6, self.nv))
        self._state(q)
        sweep(self.system, self.work, self.q, self.v)
        world(self.system, self.work)
        where = tuple(place.R.ravel().tolist()), tuple(place.p.tolist())
        body_jacobian(self.system, self.work, place.link, *where, self.at_matrix)
        return self.work[self.at_matrix : self.at_matrix + 6 * self.nv].reshape(6, self.nv).copy()

    def push(self, body: str, com: Array, q: Any, force: Array, torque: Array, point: Array | None) -> Array:
        """Generalised force of a world force at a world point (None: the centre of mass `com`) and a world torque on a body."""
        place, tau = self.places[body], np.zeros(self.nv)
        if place.link < 0:
            return tau
        if body not in self._given:
            self._given[body] = np.concatenate([place.R.ravel(), place.p, com, np.zeros(jacobian.G_SIZE - 15)])
        given = self._given[body].copy()
        given[jacobian.G_FORCE : jacobian.G_FORCE + 3], given[jacobian.G_TORQUE :] = force, torque
        if point is not None:
            given[jacobian.G_AT], given[jacobian.G_POINT : jacobian.G_POINT + 3] = 1.0, point
        work = self.work
        work[self.q : self.q + self.nq] = q
        work[self.v : self.v + self.nv] = 0.0
        first_class(jacobian.push, jacobian.PUSH)(self.system, work, self.q, self.v, place.link, given, tau)
        return tau

    def momenta(self, q: Any, v: Any) -> tuple[Array, Array]:
        """(M v, gradient of the kinetic energy at fixed v)."""
        self._state(q, v)
        sweep(self.system, self.work, self.q, self.v)
        momenta(self.system, self.work, self.v, self.tau, self.acc)
        return self.work[self.tau : self.tau + self.nv].copy(), self.work[self.acc : self.acc + self.nv].copy()

    def gravity_gradient(self, q: Any) -> Array:
        """dV/dq of the weight, in body-fixed coordinates."""
        self._state(q)
        sweep(self.system, self.work, self.q, self.v)
        world(self.system, self.work)
        gravity_gradient(self.system, self.work, self.tau)
        return self.work[self.tau : self.tau + self.nv].copy()
