"""Random convex polytopes, their placement, and judges that know nothing of the kernels: coal, Qhull, a linear program in its dual form."""

import coal
import numpy as np
from scipy.optimize import linprog
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])


def ellipsoid(rng, n):
    """n points on an ellipsoid of half axes 0.3 to 1, turned at random: all of them vertices."""
    p = rng.standard_normal((n, 3))
    p *= rng.uniform(0.3, 1.0, 3) / np.linalg.norm(p, axis=1)[:, None]
    return np.ascontiguousarray(p @ rotation(rng).T)


def rotation(rng):
    q = rng.standard_normal(4)
    return Rotation.from_quat(q / np.linalg.norm(q)).as_matrix()


def direction(rng):
    d = rng.standard_normal(3)
    return d / np.linalg.norm(d)


def shape(points):
    """For coal."""
    triangles, vertices = coal.StdVec_Triangle(), coal.StdVec_Vec3s()
    for corners in ConvexHull(points).simplices:
        triangles.append(coal.Triangle(*map(int, corners)))
    for p in points:
        vertices.append(p)
    return coal.Convex(vertices, triangles)


def coal_distance(a, b, place_a=None, place_b=None):
    """Signed distance of two shapes of coal, by its GJK and EPA. With its default tolerances of 1e-6 it ends early now and then."""
    request, still = coal.DistanceRequest(), coal.Transform3s()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = 1e-12
    request.gjk_max_iterations = request.epa_max_iterations = 512
    return coal.distance(a, place_a or still, b, place_b or still, request, coal.DistanceResult())


def differences(X, Y):
    return (X[:, None] - Y[None]).reshape(-1, 3)


def facet_value(X, Y):
    """Largest signed distance of the origin from the planes of facets of K1 - K2: h where the origin is inside, or over a facet."""
    return ConvexHull(differences(X, Y)).equations[:, 3].max()


def ray_length(X, Y, beta):
    """min t with t beta = sum l x - sum m y, by HiGHS; None where the line misses."""
    n1, n2 = len(X), len(Y)
    rows = np.zeros((5, n1 + n2 + 1))
    rows[:3, :n1], rows[:3, n1:-1], rows[:3, -1] = X.T, -Y.T, -np.asarray(beta)
    rows[3, :n1], rows[4, n1:-1] = 1.0, 1.0
    bounds = [(0, None)] * (n1 + n2) + [(None, None)]
    found = linprog([0] * (n1 + n2) + [1], A_eq=rows, b_eq=[0, 0, 0, 1, 1], bounds=bounds)
    return found.fun if found.status == 0 else None


def at_distance(rng, X, Y, h):
    """X moved along a random direction until coal's signed distance to Y is h (to 1e-13)."""
    d, a, b = direction(rng), shape(X), shape(Y)

    def value(t):
        return coal_distance(a, b, coal.Transform3s(np.eye(3), t * d)) - h

    low, high = 0.0, 6.0  # convex in t and rising where it crosses: the bodies start almost concentric
    if value(low) > 0.0:
        return None
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if value(middle) < 0.0 else (low, middle)
    return X + high * d
