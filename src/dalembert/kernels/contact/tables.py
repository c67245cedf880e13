"""What the kernels of detection read and write, as named arrays. S shapes, V vertices of convex hulls; keys are sorted.

Shapes are ordered by their owner, those of the world (owner -1) first, so that of two shapes i < j the first belongs to the world or to
the body of the smaller number. The key of a pair of shapes is i S + j.
"""

from typing import Any, NamedTuple

# kinds of shapes
PLANE, SPHERE, BOX, HULL, LARGE_HULL, FOREIGN = 0, 1, 2, 3, 4, 5

# counts of a detection
PAIRS, CONTACTS, AXES, SORT_AXIS = 0, 1, 2, 3


class Shapes(NamedTuple):
    """Colliding shapes. Poses are relative to the centre of mass of the owner, in its axes."""

    owner: Any  # (S,) body, -1 the world
    kind: Any  # (S,)
    position: Any  # (S, 3)
    quaternion: Any  # (S, 4)
    centre: Any  # (S, 3) middle of the bounding box in the axes of the shape
    half: Any  # (S, 3) half edges of the bounding box; of a sphere its radius
    scale: Any  # (S,) tolerances of small shapes shrink by this factor, at most 1
    first: Any  # (S + 1,) first vertex of a hull, and of a box where there are hulls
    vertices: Any  # (V, 3)


class Polytopes(NamedTuple):
    """Faces and edges of hulls, and of boxes where there are hulls; others have none. Vertices are numbered as in Shapes.vertices."""

    face_first: Any  # (S + 1,) first face
    face_normal: Any  # (F, 3) outward, axes of the shape
    face_start: Any  # (F + 1,) first corner
    face_vertex: Any  # corners, counter-clockwise from outside
    edge_first: Any  # (S + 1,) first edge
    edges: Any  # (E, 4) two vertices, two faces


class Filters(NamedTuple):
    """Which shapes touch (model/touching.py), and the material where they do."""

    part: Any  # (S,) body of the model, before fixed joints made some of them one; 0 the world
    parts: int  # how many there are: key of two parts a < b is a parts + b
    types: Any  # (S,) bits
    affinities: Any  # (S,) bits
    apart: Any  # keys of parts that pass through each other
    named: Any  # keys of shapes that touch whatever else holds
    priority: Any  # (S,) the material of the higher one counts
    ranks: Any  # (S, 5) of the shape's friction, restitution, torsion, rolling and condim among those of all shapes
    counts: Any  # (5,) how many ranks there are: the material is a number with these bases
    special: Any  # keys of pairs of shapes with a material of their own
    material: Any  # their materials


class Work(NamedTuple):
    """Places of shapes and scratch."""

    awake: Any  # (S,) 0: of the world, or of a body that sleeps; two such shapes are no pair
    placed: Any  # (S,) 1: not awake, and c, R, low, high are known
    c: Any  # (S, 3) world position of shapes
    R: Any  # (S, 3, 3) axes of shapes, world
    low: Any  # (S, 3) bounding boxes, grown by the margin
    high: Any  # (S, 3)
    order: Any  # (n,) shapes that are swept, in the order of their lower ends
    sorted_boxes: Any  # (n, 5) their bounding boxes in that order
    start: Any  # (S + 1,) first candidate of each shape
    pairs: Any  # (capacity, 2) candidates as they are found
    second: Any  # (capacity,) the same by rows: partners of each shape, ascending
    polygon: Any  # (2, 16, 3)
    label: Any  # (2, 16)
    C: Any  # (3, 3)
    s: Any  # (15,)
    axis_keys: Any  # (capacity,) axes of this detection
    axis_codes: Any  # (capacity,)
    counts: Any  # (4,)


class Found(NamedTuple):
    """Contact points, capacity m."""

    bodies: Any  # (m, 2) the normal points from the first to the second; -1 the world, always first
    key: Any  # (m,) pair of shapes
    feature: Any  # (m,) which vertices, edges, faces meet; -1: not known
    point: Any  # (m, 3) world, midway
    normal: Any  # (m, 3)
    gap: Any  # (m,) positive: apart
    material: Any  # (m,)


class Settings(NamedTuple):
    """Lengths in m, for shapes of a scale of 1."""

    margin: float  # contact points have gaps below this
    slack: float  # an axis is kept while another is at most so much better
    clip: float  # faces are clipped so much outside the sides of the face that they meet
    angle: float  # an edge axis so near to the normal of a face, rad, gives way to the face
