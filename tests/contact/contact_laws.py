"""Small scenes and a stepper of machines for the tests of the laws of contact."""

import json
from pathlib import Path

import numpy as np

import dalembert as dal
from dalembert.contact.machine import Machine, Settings
from dalembert.kernels.bodies import motion
from dalembert.kernels.contact import rows as contact_rows

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "contact_impact.json").read_text())
H, G = 1.0 / 60.0, 9.81


def floor(friction=0.5, restitution=0.0, gravity=(0.0, 0.0, -G)):
    m = dal.Model(gravity=gravity)
    m.add_shape("world", dal.Plane(friction=friction, restitution=restitution))
    return m


def add_box(m, name, at, size=(0.2, 0.2, 0.2), mass=1.0, quat=(1, 0, 0, 0), friction=0.5, restitution=0.0):
    s = np.array(size, dtype=float)
    inertia = mass * (s[[1, 2, 0]] ** 2 + s[[2, 0, 1]] ** 2) / 12.0
    m.add_body(name, mass, tuple(inertia), pose=(at, quat), shapes=[dal.Box(tuple(s), friction=friction, restitution=restitution)])


def add_ball(m, name, at, radius=0.1, mass=1.0, friction=0.0, restitution=0.0):
    inertia = (0.4 * mass * radius**2,) * 3
    m.add_body(name, mass, inertia, pose=(at, (1, 0, 0, 0)), shapes=[dal.Sphere(radius, friction=friction, restitution=restitution)])


def incline(angle, friction, size=(0.4, 0.4, 0.1), gravity=G):
    """A block on a plane; x is down the slope."""
    m = floor(friction, gravity=(gravity * np.sin(angle), 0.0, -gravity * np.cos(angle)))
    add_box(m, "block", (0, 0, size[2] / 2), size, friction=friction)
    return m


class Steps:
    """A machine, step by step; `x`, `q`, `omega`, `v` of its bodies."""

    def __init__(self, model, v=None, h=H, **options):
        self.h, self.t, self.machine, self.reports = h, 0.0, Machine(model, Settings(**options)), []
        self.machine.start(model.neutral(), np.zeros(model.nv))
        if v is not None:
            self.v[:] = v

    x = property(lambda self: self.machine.states[:, :3])
    q = property(lambda self: self.machine.states[:, 3:7])
    omega = property(lambda self: self.machine.states[:, 7:10])
    v = property(lambda self: self.machine.states[:, 10:])

    @property
    def kinetic(self):
        return motion.kinetic(self.machine.bodies.mass, self.machine.bodies.inertia, self.machine.states)

    def step(self, force=None):
        if force is not None:
            contact_rows.hold(self.machine.states, self.machine.bodies.com, np.asarray(force, dtype=float), self.machine.held)
        found = self.machine.step(self.t, self.h)
        self.t += self.h
        self.reports.append(found)
        return found

    def run(self, seconds):
        for _ in range(round(seconds / self.h)):
            assert self.step().status == 0
        return self

    @property
    def worst(self):
        return max(r.residual for r in self.reports)
