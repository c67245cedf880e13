"""What the kernels of collisions read and write, as named arrays.

A solid is the hull of some points of a link, thickened by a radius: one point is a ball, two are a capsule, eight a box. Walls are half
spaces of the world. H solids, W walls, N points, C contacts at most, n = nv.

A contact is known by three numbers (a, b, k): solids a < b and k = 0, or the wall b = -1 - w and the point k of solid a. Its normal points
from the first body to the second, at a wall from the wall to the solid: the gap grows along it.
"""

from typing import Any, NamedTuple

NEVER = 1e300

# settings
TOL, TOUCH, REST_SPEED, MOST, REFLECTION, IMPACTS, RESPONSE = 0, 1, 2, 3, 4, 5, 6
SETTINGS = 7
AT_INSTANTS, AT_NODES = 0.0, 1.0
NODAL, VARIATIONAL = 0.0, 1.0
TOGETHER, IN_TURN = 0.0, 1.0

# notes: what the next step must know beside the state of the base step
LOSS = 0  # energy that impacts took so far, J, negative
IMPULSE = 1  # of walls so far: angular about the world origin, linear
PACE = 7  # largest displacement of a solid in the step before, m
COUNT = 8  # impacts so far
UNSOLVED = 9  # reflections by the energy condition that had no root, and were done at the node
HOPS = 10  # resting contacts that could not be held, and were opened
HOPPED = 11  # energy that opening them gave, J
NOTES = 12

# goal: the reflection by the energy condition that the next step completes
PENDING, ENERGY, FACTOR, LINEAR, SQUARE = 0, 1, 2, 3, 4  # is there one; E_d to reach; f; energy that it takes, f LINEAR + f^2 SQUARE
WALLS, FIRST_EVENT, LAST_EVENT = 5, 11, 12  # impulse from outside (6); rows of its events
GOAL = 13

# columns of events
EVENT = ("t", "kind", "a", "b", "value", "px", "py", "pz", "nx", "ny", "nz", "before", "after")
STRUCK, RESTS, LEAVES = 1.0, 3.0, 4.0

# counts
EVENTS, TOUCHING, TRIALS, SEARCHED = 0, 1, 2, 3  # rows of events, contacts that touch at the node; trial steps so far, those of searches
COUNTS = 4


class Scene(NamedTuple):
    """What can touch, constant."""

    link: Any  # (H,) that carries the solid, -1 the world
    part: Any  # (H,) body of the model, -1 the world
    first: Any  # (H + 1,) first point
    points: Any  # (N, 3) link axes
    radius: Any  # (H,)
    centre: Any  # (H, 3) link axes
    reach: Any  # (H,) from the centre to the surface, at most
    normal: Any  # (W, 3)
    offset: Any  # (W,) the wall is n.x < offset
    pairs: Any  # (H, H) 1 where two solids can touch
    walls: Any  # (H, W) 1 where a solid can touch a wall
    bounce: Any  # (H, H) restitution
    bounce_wall: Any  # (H, W)


class Room(NamedTuple):
    """Places of solids, contacts, and workspace."""

    points: Any  # (N, 3) world
    centre: Any  # (H, 3) world
    before: Any  # (H, 3) at the node that the step left
    points_before: Any  # (N, 3) at the node that the step left
    order: Any  # (H,) solids by their lowest x
    low: Any  # (H,) lowest x
    separation: Any  # workspace of kernels/separation
    answer: Any  # and its answer
    who: Any  # (C, 3) contacts
    gap: Any  # (C,)
    point: Any  # (C, 3)
    normal: Any  # (C, 3)
    bounce: Any  # (C,) restitution
    rows: Any  # (C, n) derivative of the gap by the velocities
    reply: Any  # (C, n) M^-1 rows^T
    matrix: Any  # (C, C) rows M^-1 rows^T
    factor: Any  # (C + 1, C) factors of parts of it
    free: Any  # (C,) workspace
    speed: Any  # (C,) rate of the gap
    push: Any  # (C,) impulse
    extra: Any  # (C,)
    arrival: Any  # (C,) rate of the gap before several problems of one instant
    total: Any  # (C,) and their impulses
    touch: Any  # (C, 3) contacts that touched at the node that the step leaves
    held: Any  # (C,) 1: it rests
    lift: Any  # (C,) rate at which it opens; of one that rests 1 if it has pushed
    lam: Any  # (C,) impulse of a resting contact over the step
    hold_rows: Any  # (C, n) its row at the node
    hold_point: Any  # (C, 3) and its point there
    hold_normal: Any  # (C, 3)
    node: Any  # state at the node that the step leaves
    trial: Any  # state after a trial step
    jump: Any  # (n,) momentum of the reflection that the next step completes, see VARIATIONAL
    goal: Any  # (GOAL,) what that is to reach
    weights: Any  # of the substeps of a composition; (1,) without one
    bracket: Any  # of the search for an instant, kernels/events/brackets.py
    address: Any  # (1,) of the ledger, which enters substeps of a composition
