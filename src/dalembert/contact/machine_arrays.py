"""`Arrays`: what a machine of bodies holds: its bodies and joints compiled, the checkpoint, the arrays of a step."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.contact.accounts import COLUMNS, CONTACT, STIFFNESS, columns_of
from dalembert.contact.detector import Detector
from dalembert.contact.scene import Scene
from dalembert.contact.settings import Settings, options_of
from dalembert.contact.solvers import Solver, solver_of
from dalembert.contact.stretched import StretchedSolver
from dalembert.kernels.bodies import layout, motion
from dalembert.kernels.contact import rows as contact_rows
from dalembert.model.compile_bodies import compile_bodies
from dalembert.model.features import can_touch

STRETCH = [contact_rows.ALONG, contact_rows.ACROSS]


class Arrays:
    """State and arrays of a machine in body coordinates."""

    def __init__(self, model: Any, settings: Settings):
        self.settings = s = settings
        self.bodies = compile_bodies(model, s.joint_eps, s.tau)
        self.n = n = len(self.bodies.names)
        self.detector = Detector(Scene.of(model, self.bodies.names), margin=s.margin) if can_touch(model) else None
        self.options = options_of(s)
        self.solver: Solver = solver_of(self.options, s.law, s.sides)
        self.least = np.array([np.linalg.eigvalsh(I)[0] for I in self.bodies.inertia])
        self.size = np.zeros(n) if self.detector is None else self.detector.scene.radii
        count = self.bodies.count
        self.joints, self.constraints, self.joint_rows = count(layout.JOINTS), count(layout.CONSTRAINTS), count(layout.ROWS)
        self.motors, self.rotors = count(layout.MOTORS), count(layout.ROTORS)
        self.companions = count(layout.COMPANIONS)  # bodies of a step behind the n that are there: kernels/bodies/couplings.py
        torques = [contact_rows.TORSION, contact_rows.ROLLING]
        self.has_torques = self.detector is not None and bool((self.detector.materials[:, torques] > 0.0).any())
        table = np.zeros((0, contact_rows.AXIS)) if self.detector is None else self.detector.materials
        self.has_axes, self.is_stretched = bool(table[:, contact_rows.AXIS_OF].any()), bool((table[:, STRETCH] != 1.0).any())
        if self.is_stretched:
            self.solver = StretchedSolver(self.solver)
        self.torques = 0  # rows of torques of contacts in the last step
        # the checkpoint
        self.states = np.zeros((n, motion.SIZE))
        self.room = self.bodies.room()
        self.intact = np.ones(self.joints, dtype=np.int64)
        self.joint_lam = np.zeros(self.joint_rows)
        self.held = np.zeros(6 * n)
        self.account, self.impulse = np.zeros(len(COLUMNS)), np.zeros(6)
        # arrays of a step
        whole = n + self.companions
        self.push, self.before, self.free, self.x = (np.zeros(6 * whole) for _ in range(4))
        self.masses, self.inverse = np.zeros((whole, 6, 6)), np.zeros((whole, 6, 6))
        self.masses[n:], self.inverse[n:] = np.eye(6), np.eye(6)
        self.mode = np.zeros(n, dtype=np.int64)
        self._stiffness = np.zeros((n, 3, 3))
        self._poses = np.zeros((n, 3)), np.zeros((n, 4)), np.zeros(n)  # of detection: positions, quaternions, reaches
        self.inputs = np.full(self.motors, np.nan)  # of motors; NaN: off
        self.rates_of_rotors = self.room.targets[len(self.room.targets) - self.rotors :]  # NaN: those of the bodies
        self.tree_work = self.bodies.tree_work()
        self.forces = np.zeros((self.joints, 2))
        self._joint_columns = columns_of(self.bodies)
        self.springs = bool((self._joint_columns == STIFFNESS).any())
        self._grow(64)
        self.h = 0.0  # of the last step
        self.contacts = 0  # of the last step that were rows of it
        self.events: list[tuple[float, ...]] = []  # (kind, a, b, value) of the last step

    def _grow(self, contacts: int) -> None:
        """Room for so many contacts."""
        self.capacity = contacts
        more = 3 * contacts if self.has_torques else 0
        self.rows = self.bodies.arrays(contacts + more, 3 * contacts + more)
        size = self.joint_rows + 3 * contacts + more
        self.lam, self.columns = np.zeros(size), np.full(size, CONTACT, dtype=np.int64)
        self.columns[: self.joint_rows] = self._joint_columns
        self.lam0, self.chosen = np.zeros((contacts, 3)), np.zeros(contacts, dtype=np.int64)
        self.rates, self._row = np.zeros(contacts), np.zeros((1, 12))
        self._chosen = np.zeros(2, dtype=np.int64)
        self._made: tuple[Any, Any] = (None, None)

    def start(self, q: Array, v: Array) -> None:
        """Begin from q and v of the model."""
        self.states[:] = self.bodies.states(q, v)
        self.room.values[:] = 0.0
        self.inputs[:], self.rates_of_rotors[:] = np.nan, np.nan
        self.intact[:], self.joint_lam[:], self.held[:] = 1, 0.0, 0.0
        self.account[:], self.impulse[:] = 0.0, 0.0
        if self.detector is not None:
            self.detector.forget()

    def configuration(self) -> tuple[Array, Array]:
        """q and v of the model."""
        return self.bodies.configuration(self.states)
