"""Trees: a floating chain, the three-sphere robot of Park and Chung, pendulums."""

from __future__ import annotations

from dalembert.model import Capsule, Model, Sphere
from dalembert.scenes._base import Scene, register


def floating_chain() -> Model:
    """Base and two links on perpendicular axes, floating without gravity (geometry chosen here for the experiment of Kobilarov 5.5)."""
    m = Model("floating-chain", gravity=(0, 0, 0))
    m.add_body("base", 1.0, (0.1, 0.2, 0.25))
    rod = (0.02, 0.1, 0.1)
    m.add_body("right", 1.0, rod, com=(0.5, 0, 0), pose=((0.5, 0, 0), (1, 0, 0, 0)))
    m.add_body("left", 1.0, rod, com=(-0.5, 0, 0), pose=((-0.5, 0, 0), (1, 0, 0, 0)))
    m.add_joint("j1", "revolute", "base", "right", anchor=(0.5, 0, 0), axis=(0, 0, 1))
    m.add_joint("j2", "revolute", "base", "left", anchor=(-0.5, 0, 0), axis=(0, 1, 0))
    return m


def three_spheres() -> Model:
    """Three solid spheres, m = 10, I = 4: the space robot of Park and Chung, Fig. 3."""
    m = Model("three-spheres", gravity=(0, 0, 0))
    ball = (Sphere(1.0, collide=False),)
    m.add_body("body1", 10.0, (4, 4, 4), shapes=ball)
    m.add_body("body2", 10.0, (4, 4, 4), pose=((2, 0, 0), (1, 0, 0, 0)), shapes=ball)
    m.add_body("body3", 10.0, (4, 4, 4), pose=((2, 0, 2), (1, 0, 0, 0)), shapes=ball)
    m.add_joint("j1", "revolute", "body1", "body2", anchor=(0, 0, 0), axis=(0, 0, 1))
    m.add_joint("j2", "revolute", "body2", "body3", anchor=(2, 0, 0), axis=(-1, 0, 0))
    return m


def pendulum_chain() -> Model:
    """Three rods that hang from each other, turning about perpendicular axes in turn."""
    m = Model("pendulum-chain")
    for i in range(3):
        rod = Capsule(0.03, 0.44, position=(0, 0, -0.25), collide=False)
        m.add_body(f"rod{i + 1}", 1.0, (0.021, 0.021, 0.001), com=(0, 0, -0.25), pose=((0, 0, -0.5 * i), (1, 0, 0, 0)), shapes=(rod,))
        axis = (1, 0, 0) if i % 2 == 0 else (0, 1, 0)
        m.add_joint(f"j{i + 1}", "revolute", f"rod{i}" if i else "world", f"rod{i + 1}", anchor=(0, 0, -0.5 * i), axis=axis)
    return m


register(
    Scene(
        name="floating-chain",
        summary="base and two links that float and turn without gravity: momentum is the test",
        build=floating_chain,
        q0={"j1": 0.3, "j2": -0.2},
        v0={"base": (0.3, 0.8, 0.5, 0.1, 0, 0.2), "j1": 0.6, "j2": -0.8},
        h=0.01,
        t_end=20.0,
        stepper="mk4",
        references=("kobilarov2014",),
    )
)
register(
    Scene(
        name="three-spheres",
        summary="space robot of three spheres, both joints turning: the tables of Park and Chung",
        build=three_spheres,
        q0=None,
        v0={"j1": 0.4, "j2": 0.4},
        h=0.01,
        t_end=10.0,
        stepper="cg4",
        references=("park2005",),
    )
)
register(
    Scene(
        name="pendulum-chain",
        summary="three hanging rods on perpendicular axes, let go from the side: chaotic",
        build=pendulum_chain,
        q0={"j1": 1.5, "j2": 0.4},
        v0=None,
        h=0.002,
        t_end=10.0,
        stepper="mk4",
        chaotic=True,
    )
)
