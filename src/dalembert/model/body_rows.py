"""Rows of joints between free bodies: what is asked of their measures, as records of `kernels/bodies/layout.py`.

    of a joint            on                       law          numbers
    what it holds         residuals                BILATERAL    eps = compliance, tau = damping_time; 0: the defaults
      with max_force      the same, row by row     BOXED        without bounds: contact/yielding.py holds their length
      with force limits   the same, row by row     BOXED        UNILATERAL where the range is (-inf, 0) or (0, inf): a rope, a prop
    drive                 coordinate - f(t)        BILATERAL    the defaults; BOXED with drive limits
    path                  place - (f, g, h)(t)     BILATERAL    a drive of three coordinates; of an orientation three rows on four
    velocity              rate - f(t + h/2)        BILATERAL    the same
    greatest velocity     rho - rate, rho + rate   UNILATERAL   (10.48); of a ball joint rho - |spin|, along the spin of the node, of a
                                                                free one rho - |v|, along v
    stiffness             coordinate - rest        BILATERAL    eps = 1/stiffness, tau = 0; damped where h omega > 2
    damping               rate                     BILATERAL    gamma = 1/damping
    friction              rate                     BOXED        |force| <= friction, on every degree of freedom by itself; of a ball
                                                                joint the length of the torque (kernels/bodies/joint_rows.py)
    armature              rate                     BILATERAL    sigma = 1/armature: kernels/bodies/joint_rows.py
    limits                q - lower, upper - q     UNILATERAL   the defaults; asleep beyond the margin
    velocity motor        rate - u/gear            BOXED        gamma = 1/(gear^2 kv); BILATERAL without a limit
    position motor        coordinate - u/gear      BOXED        eps = 1/(gear^2 kp), tau = kv/kp; BILATERAL without a limit

    coupling              q_child - p(q_parent)    BILATERAL    as what a joint holds; BOXED with force limits (kernels/bodies/couplings.py)

A torque motor is no row but a known force. A ball joint measures its rates by its three spins, in child axes, its strains by its rotation
vector, its limits by the length of that. Motors follow their laws (model/motors.py) with the rate at the end of the step and the
coordinate at its start, ahead by h/4 of the change of the rate (4.31).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.kernels.bodies import layout as at
from dalembert.kernels.contact.codes import BILATERAL, BOXED, UNILATERAL
from dalembert.model.body_measures import Measure, free, held, rolled, rotors, slips
from dalembert.model.drive_tables import TableDrive
from dalembert.model.drives import Drive
from dalembert.model.loops import Loop
from dalembert.model.motors import Motor
from dalembert.model.nonholonomic import Nonholonomic


@dataclass(frozen=True)
class Defaults:
    """Of rows that the model gives no numbers for: compliance (m/N, rad/(N m)), damping time in steps, margin of limits (m, rad)."""

    eps: float
    steps: float
    margin: float


def _key(measure: Measure) -> str:
    """What tells the measures of a joint apart."""
    return f"{measure.what} {measure.label}"


@dataclass
class Writer:
    """Records in the order in which they are written, and what they are called: (joint, what)."""

    defaults: Defaults
    motors: tuple[Motor, ...]
    joints: list[list[float]] = field(default_factory=list)
    measures: list[list[float]] = field(default_factory=list)
    constraints: list[list[float]] = field(default_factory=list)
    rows: list[list[float]] = field(default_factory=list)
    motor_records: list[list[float]] = field(default_factory=list)
    drives: list[Drive | TableDrive] = field(default_factory=list)
    rotors: list[int] = field(default_factory=list)  # rows
    joint_names: list[str] = field(default_factory=list)
    measure_labels: list[tuple[str, str]] = field(default_factory=list)
    row_labels: list[tuple[str, str]] = field(default_factory=list)
    coordinates: dict[tuple[str, int], int] = field(default_factory=dict)
    couplings: list[list[float]] = field(default_factory=list)
    coupled: dict[str, tuple[str, str]] = field(default_factory=dict)  # coupling -> joints
    companions: int = 0
    lengths: list[tuple[int, int, float]] = field(default_factory=list)  # first row, number of rows, greatest length of their force

    def __post_init__(self) -> None:
        self.motor_records = [at.MOTOR.filled(MOTOR_JOINT=-1) for _ in self.motors]

    def add_loop(self, loop: Loop, **ends: Any) -> None:
        """A loop joint; ends: bodies, arms and frames of its record."""
        self._open(loop.name, ends)
        soft = {"COMPLIANCE": loop.compliance or self.defaults.eps, "TAU": loop.damping_time}
        soft["STEPS"] = 0.0 if loop.damping_time > 0.0 else self.defaults.steps
        directions = free(loop)
        for m in directions.rates:  # first of all, in their order: what controls and kernels/bodies/coordinates.py speak of
            self._measure(m)
        self._hold([(m, m.label, {"MODE": at.POSITION, **soft}) for m in held(loop)], loop.force_limits, (loop.max_force, loop.max_torque))
        self._drive(loop, directions.coordinates, directions.rates)
        self._act(loop, directions.rates, directions.strains)
        if loop.limits is not None and directions.bounded is not None:
            self._limit(directions.bounded, *loop.limits)
        if loop.max_velocity > 0.0:
            self._limit_rates(directions.speeds, loop.max_velocity)
        for i, motor in enumerate(self.motors):
            if motor.joint == loop.name:
                self._drive_by_motor(i, motor, directions.coordinates[0])
        self._close(directions.coordinates)

    def add_free(self, name: str, most: float, body: int) -> None:
        """The greatest speed of a free body."""
        self._open(name, {"BODY_A": -1, "BODY_B": body, "FRAME_A": (1, 0, 0, 0), "FRAME_B": (1, 0, 0, 0)})
        self._limit_rates([Measure("pace", at.PACE)], most)
        self._close()

    def add_nonholonomic(self, joint: Nonholonomic, **ends: Any) -> None:
        """A rolling or knife-edge joint."""
        self._open(joint.name, ends)
        rows = [(m, m.label, self._default(at.POSITION if m.what == at.HEIGHT else at.VELOCITY)) for m in rolled(joint)]
        self._constrain(BILATERAL, rows, holds=True)
        self._close()

    def add_coupling(self, loop: Loop, bodies: int) -> None:
        """A coupling of two joints that are written already; bodies: number of free bodies, behind which companions stand."""
        child, parent = self.coordinates[loop.child, 0], self.coordinates.get((loop.parent, 0), -1)
        ends = [int(e) for name in (loop.child, loop.parent) for e in self._bodies_of(name)]
        assert loop.polynomial is not None  # Loop.build
        record = at.COUPLING.filled(MEASURE_C=child, MEASURE_P=parent, ENDS=ends, TERMS=len(loop.polynomial))
        self.couplings.append([*record[:-1], *loop.polynomial])
        own = list(dict.fromkeys(e for e in ends if e >= 0))
        soft = {"COMPLIANCE": loop.compliance or self.defaults.eps, "TAU": loop.damping_time, "OTHER": len(self.couplings) - 1}
        soft["STEPS"] = 0.0 if loop.damping_time > 0.0 else self.defaults.steps
        law, bounds = BILATERAL, {}
        if loop.force_limits is not None:
            law, bounds = BOXED, dict(zip(("LEAST", "GREATEST"), loop.force_limits, strict=True))
        slots, second = (len(own) - 1, bodies + self.companions) if len(own) > 2 else (0, own[1] if len(own) > 1 else -1)
        for i, body in enumerate(own[1:] if slots else ()):
            self._couple(loop.name, BILATERAL, body, second, f"share {i + 1}", {**soft, "MODE": at.PICKED, "SLOTS": i, "COMPLIANCE": 0.0})
        self._couple(loop.name, law, own[0], second, "coupling", {**soft, **bounds, "MODE": at.COUPLED, "SLOTS": slots})
        self.companions += int(slots > 0)
        self.coupled[loop.name] = (loop.child, loop.parent)

    def _couple(self, name: str, law: int, a: int, b: int, label: str, numbers: dict[str, float]) -> None:
        """One row of a coupling, as a joint between two bodies that measures nothing."""
        self._open(name, {"BODY_A": a, "BODY_B": b, "FRAME_A": (1, 0, 0, 0), "FRAME_B": (1, 0, 0, 0)})
        self._constrain(law, [(None, label, numbers)])
        self._close()

    def _bodies_of(self, joint: str) -> tuple[float, float]:
        if joint not in self.joint_names:
            return -1, -1
        record = self.joints[self.joint_names.index(joint)]
        return record[at.BODY_A], record[at.BODY_B]

    # parts of a joint ----------------------------------------------------------------------------------------------------------------

    def _open(self, name: str, ends: dict[str, Any]) -> None:
        self.joint_names.append(name)
        self._ends, self._known, self._first = ends, dict[str, int](), len(self.measures)

    def _close(self, coordinates: Sequence[Measure] = ()) -> None:
        for k, measure in enumerate(coordinates):
            if _key(measure) in self._known:
                self.coordinates[self.joint_names[-1], k] = self._known[_key(measure)]
        self.joints.append(at.JOINT.filled(FIRST_MEASURE=self._first, LAST_MEASURE=len(self.measures), **self._ends))

    def _default(self, mode: int) -> dict[str, float]:
        return {"MODE": mode, "COMPLIANCE": self.defaults.eps, "STEPS": self.defaults.steps}

    def _measure(self, measure: Measure) -> int:
        """The number of a measure of this joint, which is written when it is first asked for."""
        key = _key(measure)
        if key not in self._known:
            self._known[key] = len(self.measures)
            self.measures.append(measure.record())
            self.measure_labels.append((self.joint_names[-1], measure.label))
        return self._known[key]

    def _constrain(self, law: int, rows: Sequence[tuple[Measure | None, str, dict[str, float]]], holds: bool = False) -> None:
        """One constraint with a row for each (measure, label, numbers)."""
        start = len(self.rows)
        for measure, label, numbers in rows:
            given = {"SIGN": 1.0, "TARGET": -1, "LEAST": -np.inf, "GREATEST": np.inf, **numbers}
            self.rows.append(at.ROW.filled(OF_MEASURE=-1 if measure is None else self._measure(measure), **given))
            self.row_labels.append((self.joint_names[-1], label))
        joint, last = len(self.joints), len(self.rows)
        self.constraints.append(at.CONSTRAINT.filled(OF_JOINT=joint, LAW=law, FIRST_ROW=start, LAST_ROW=last, HOLDS=holds))

    def _hold(
        self, rows: list[tuple[Measure, str, dict[str, float]]], limits: tuple[float, float] | None, most: tuple[float, float]
    ) -> None:
        """What a joint holds to zero: together, or row by row within the forces of its limits. most: lengths of force and torque."""
        if max(most) > 0.0:
            self._hold_by_length(rows, most)
            return
        if limits is None:
            self._constrain(BILATERAL, rows, holds=True)
            return
        least, greatest = limits
        for measure, label, numbers in rows:
            if {-np.inf, 0.0, np.inf} >= {least, greatest} and least < greatest and np.isfinite([least, greatest]).any():
                one_way = {**numbers, "SIGN": 1.0 if greatest > 0.0 else -1.0, "MARGIN": self.defaults.margin}
                self._constrain(UNILATERAL, [(measure, label, one_way)], holds=True)
            else:
                self._constrain(BOXED, [(measure, label, {**numbers, "LEAST": least, "GREATEST": greatest})], holds=True)

    def _hold_by_length(self, rows: list[tuple[Measure, str, dict[str, float]]], most: tuple[float, float]) -> None:
        """Rows of forces and rows of torques, of which one kind, or both, have a greatest length."""
        for length, forces in zip(most, (True, False), strict=True):
            own = [row for row in rows if (row[0].what in (at.SHIFT_WORLD, at.SHIFT, at.DISTANCE)) == forces]
            if length == 0.0 and own:
                self._constrain(BILATERAL, own, holds=True)
            elif own:
                self.lengths.append((len(self.rows), len(own), length))
                for row in own:
                    self._constrain(BOXED, [row], holds=True)

    def _drive(self, loop: Loop, coordinates: list[Measure], rates: list[Measure]) -> None:
        """Prescribed coordinates and rates."""
        law, least, greatest = (BILATERAL, -np.inf, np.inf) if loop.drive_limits is None else (BOXED, *loop.drive_limits)
        if loop.kind == "orientation" and loop.drive is not None:
            self._turn(law, {"LEAST": least, "GREATEST": greatest}, coordinates, list(loop.drive.values()))
            return
        wanted = [(coordinates[k], f"drive of {coordinates[k].label}", at.POSITION, f) for k, f in (loop.drive or {}).items()]
        wanted += [(rates[k], f"drive of the rate of {rates[k].label}", at.VELOCITY, f) for k, f in (loop.velocity or {}).items()]
        for measure, label, mode, drive in wanted:
            target = {"TARGET": len(self.motors) + len(self.drives), "GAIN": 1.0, "LEAST": least, "GREATEST": greatest}
            self._constrain(law, [(measure, label, {**self._default(mode), **target})])
            self.drives.append(drive)

    def _turn(self, law: int, bounds: dict[str, float], quaternion: list[Measure], drives: list[Drive | TableDrive]) -> None:
        """Rows that turn the child as four functions say: kernels/bodies/following.py."""
        for m in quaternion:
            self._measure(m)
        given = {**self._default(at.FOLLOWING), **bounds, "TARGET": len(self.motors) + len(self.drives), "GAIN": 1.0}
        for i, x in enumerate("xyz", 1):
            self._constrain(law, [(quaternion[0], f"drive of {x} turn", {**given, "SLOTS": i})])
        self.drives += drives

    def _limit_rates(self, speeds: list[Measure], most: float) -> None:
        """No rate beyond `most`, either way; the speeds of balls and of free bodies are never negative."""
        for m in speeds:
            for sign in (-1.0,) if m.what in (at.SPEED, at.PACE) else (1.0, -1.0):
                bound = {**self._default(at.VELOCITY), "SIGN": sign, "REST": -sign * most}
                self._constrain(UNILATERAL, [(m, f"{m.label} velocity limit", bound)])

    def _act(self, loop: Loop, rates: list[Measure], strains: list[Measure]) -> None:
        """Stiffness, damping, friction: on every degree of freedom alike."""
        if loop.stiffness > 0.0:
            spring = {"MODE": at.POSITION, "REST": loop.rest, "COMPLIANCE": 1.0 / loop.stiffness}
            for m in strains:
                self._constrain(BILATERAL, [(m, f"stiffness of {m.label}", spring)])
        if loop.damping > 0.0:
            for m in rates:
                self._constrain(BILATERAL, [(m, f"damping of {m.label}", {"MODE": at.VELOCITY, "GAMMA": 1.0 / loop.damping})])
        if loop.armature > 0.0:
            for m in rotors(loop, rates):
                self.rotors.append(len(self.rows))
                self._constrain(BILATERAL, [(m, f"armature of {m.label}", {"MODE": at.INERTIA, "ARMATURE": loop.armature, "GAIN": 1.0})])
        if loop.friction > 0.0:
            dry = {**self._default(at.VELOCITY), "LEAST": -loop.friction, "GREATEST": loop.friction}
            for m in slips(loop, rates):
                across = {"ACROSS": float(m.what == at.SLIP and m.value > 0.0)}
                self._constrain(BOXED, [(m, f"friction of {m.label}", {**dry, **across})])

    def _limit(self, measure: Measure, lower: float, upper: float) -> None:
        hard = {**self._default(at.POSITION), "MARGIN": self.defaults.margin}
        for word, sign, bound in (("lower", 1.0, lower), ("upper", -1.0, upper)):
            if np.isfinite(bound):
                self._constrain(UNILATERAL, [(measure, f"{word} limit", {**hard, "SIGN": sign, "REST": bound})], holds=True)

    def _drive_by_motor(self, i: int, motor: Motor, coordinate: Measure) -> None:
        least, greatest = motor.limit or (-np.inf, np.inf)
        known: dict[str, float] = {"MOTOR_JOINT": len(self.joints), "MOTOR_MEASURE": self._measure(coordinate)}
        known |= {"MOTOR_LEAST": least, "MOTOR_GREATEST": greatest, "MOTOR_GEAR": motor.gear if motor.kind == "torque" else 0.0}
        self.motor_records[i] = at.MOTOR.filled(**known)
        if motor.kind == "torque":
            return
        numbers: dict[str, float] = {"TARGET": i, "GAIN": 1.0 / motor.gear, "LEAST": least, "GREATEST": greatest}
        if motor.kind == "velocity":
            numbers |= {"MODE": at.VELOCITY, "GAMMA": 1.0 / (motor.gear**2 * motor.kv)}
        else:
            numbers |= {"MODE": at.POSITION, "COMPLIANCE": 1.0 / (motor.gear**2 * motor.kp), "TAU": motor.kv / motor.kp}
        self._constrain(BILATERAL if motor.limit is None else BOXED, [(coordinate, f"motor {motor.name}", numbers)])

    # the whole -----------------------------------------------------------------------------------------------------------------------

    def array(self) -> Array:
        """The system array."""
        for i, row in enumerate(self.rotors):
            self.rows[row][at.TARGET] = len(self.motors) + len(self.drives) + i
        drives = [at.DRIVE.filled(FUNCTION=d.address, PIECES=d.pieces) for d in self.drives]
        parts = [self.joints, self.measures, self.constraints, self.rows, self.motor_records, drives]
        sizes = [at.JOINT_SIZE, at.MEASURE_SIZE, at.CONSTRAINT_SIZE, at.ROW_SIZE, at.MOTOR_SIZE, at.DRIVE_SIZE]
        lengths = [len(part) * size for part, size in zip(parts, sizes, strict=True)]
        starts = (at.HEADER_SIZE + np.concatenate([[0], np.cumsum(lengths)])).tolist()
        table = starts[-1]
        for record, drive in zip(drives, self.drives, strict=True):
            record[at.TABLE] = table
            table += len(drive.coefficients)
        starts_of = table + np.concatenate([[0], np.cumsum([len(c) for c in self.couplings])])
        for record in self.rows:
            if record[at.MODE] in (at.COUPLED, at.PICKED):
                record[at.OTHER] = float(starts_of[int(record[at.OTHER])])
        header = [len(part) for part in parts] + starts[:-1]
        words = ("JOINTS", "MEASURES", "CONSTRAINTS", "ROWS", "MOTORS", "DRIVES")
        names = (*words, *(f"AT_{word}" for word in words))
        head = at.HEADER.filled(ROTORS=len(self.rotors), COMPANIONS=self.companions, **dict(zip(names, header, strict=True)))
        records = (x for part in parts for record in part for x in record)
        tables = [*(x for d in self.drives for x in d.coefficients), *(x for c in self.couplings for x in c)]
        return np.array([*head, *records, *tables])
