"""SPOOK: bodies cut free, joints and contacts as regularised, stabilised constraints, one complementarity problem per step.

    M (x+ - x_free) = J^T lam,   u = J x+ + b + sigma lam,   b = (4/h) Y g - Y J x,   sigma = 4 eps Y/h^2,   Y = 1/(1 + 4 tau/h)     (4.31)
    joints u = 0;   limits 0 <= lam _|_ u >= 0;   friction, motors: lam within bounds;   contacts (n, t1, t2): lam in Coulomb's cone (10.75)
    rotation by the linear quaternion step (15.70), its mass matrix in M;   q+ = q + h v+
    impacts, where a material has a restitution psi: C v+ + psi C v- >= 0 (10.31), at their instant of the step (contact/impacts.py)

Lacoursiere 2007, with the corrected signs: f = -grad V, D = I - z_s 1 in (15.70), right-hand sides of (4.31) and (10.31). Velocities are
those of the interval before a node, M v is the discrete momentum of the node (the discrete Lagrangian evaluates V at the first node).

eps is a compliance (m/N), tau a damping time (in steps): a constraint under a static load gives way by eps times its force, whatever h and
tau; violations shrink to 1/3 per step at tau = 2 steps, the fastest. Each problem is solved to round-off by default: then stacks stand.
Coulomb's law is solved for in each step (contact/coulomb.py), its residual is reported; law="cone" takes the associated law, which always
has one solution and lets what slides separate with mu |v_t|. Cylinder, box, pyramid and polygon (10.12, 10.86): contact/friction_laws.py.
Contacts without restitution do not bounce; penetration is undone no faster than with `push`, so a start with overlapping bodies recovers
slowly instead of exploding.

With sleep > 0 what has been at rest for so many seconds (below 1e-4 m/s: boxes at rest have 1e-9 ... 1e-6) costs nothing until something
touches it or acts on it, and then goes on from the same contacts and impulses: contact/sleep.py. Bodies with joints stay awake, and so does
what they touch.

Order 1. Conserves linear momentum of what is free; energy is lost, never gained by constraints, and the account says where.
References: lacoursiere2007, chapters 4, 10, 14, 15.
"""

from dalembert.option import Option
from dalembert.registry import register

HANDLES = (
    "free", "pivot", "tree", "gravity", "damping", "stiffness", "joint friction", "limits", "spherical limits", "spring", "wrench",
    "forces",    "motors", "loops", "nonholonomic", "contact", "control", "compliance", "strength", "drive", "loop drive",
    "velocity drive", "velocity limits", "force limits",
    "armature", "loop damping", "loop friction", "loop armature", "loop stiffness", "loop limits", "loop motors",
    "loop couplings",
)  # fmt: skip


def _positive(x: float) -> bool:
    return 0.0 < x < float("inf")


register(
    name="spook",
    summary="bodies, joints, contacts, dry friction and impacts at large steps: one complementarity problem per step, solved to round-off",
    system="bodies",
    order=1,
    conserves=("attitude: exactly",),
    handles=HANDLES,
    limitations="first order; nodal energy is dissipated, mostly where contacts and joints act; forces given as functions are held",
    options=(
        Option("eps", 1e-8, "compliance of contacts without one of their own; less for heavy bodies", "m/N", _positive, "a number > 0"),
        Option("joint_eps", 1e-10, "compliance of joints without one of their own", "m/N, rad/(N m)", _positive, "a number > 0"),
        Option("tau", 2.0, "damping time of constraints without one of their own", "steps", lambda x: 0.0 <= x < 1e9, "a number >= 0"),
        Option("margin", 4e-3, "contacts act below this gap; shapes smaller than 5 cm: less", "m", _positive, "a number > 0"),
        Option(
            "law",
            "coulomb",
            "of friction: Coulomb's; the associated law of the cone; limits of the step before (cylinder, box); pyramid, polygon",
            words=("coulomb", "cone", "cylinder", "box", "pyramid", "polygon"),
        ),
        Option("sides", 8, "of law='polygon'", valid=lambda n: n >= 4 and n % 2 == 0, expected="an even whole number >= 4"),
        Option(
            "solver",
            "direct",
            "of the problem of a step; direct+split, exact: go on where that misses Coulomb's law, in problems of any size",
            words=("direct", "exact", "direct+split", "gauss-seidel", "split", "lemke", "keller"),
        ),
        Option("sweeps", 50, "of gauss-seidel, at most", valid=lambda n: n >= 1, expected="a whole number >= 1"),
        Option("rounds", 200, "of split, at most", valid=lambda n: n >= 1, expected="a whole number >= 1"),
        Option(
            "corners",
            0,
            "of polygons in place of cones, for lemke and keller; 0: cones are refused",
            valid=lambda n: n == 0 or 3 <= n <= 256,
            expected="0 or a whole number from 3 to 256",
        ),
        Option("tol", 1e-9, "natural residual of the problem of a step", "m/s", lambda x: 0 < x < 1, "a number in (0, 1)"),
        Option(
            "impact",
            "exact",
            "contacts with restitution strike at their instant, or at a node",
            words=("exact", "post-facto", "preemptive", "combined"),
        ),
        Option("threshold", 0.05, "slower impacts have no restitution", "m/s", lambda x: 0.0 <= x < 1e9, "a number >= 0"),
        Option("push", 1.0, "penetration is undone no faster than this", "m/s", _positive, "a number > 0"),
        Option("sleep", 0.0, "islands that were calm for so long sleep until touched; 0: never", "s", lambda x: 0.0 <= x < 1e9, ">= 0"),
        Option(
            "newton",
            0,
            "iterations of a step on the nonlinear stepper (4.27); 0: its linearisation (4.31)",
            valid=lambda n: n >= 0,
            expected="a whole number >= 0",
        ),
        Option("contacts", "all", "keep the contacts of every node in traj.contacts, or none", words=("all", "none")),
        Option(
            "threads", 1, "that solve islands side by side; no digit depends on it", valid=lambda n: 1 <= n <= 256, expected="1 ... 256"
        ),
        Option(
            "max_time", 0.0, "wall time per step after which the best solution so far is taken; 0: none", "s", lambda x: x >= 0.0, ">= 0"
        ),
        Option(
            "archive_failures",
            "",
            "HDF5 file, or folder, for the problems of steps that were not solved (contact/archive.py)",
        ),
        Option("archive_every", 0, "archive every n-th step too; 0: none", valid=lambda n: n >= 0, expected="a whole number >= 0"),
        Option("archive_most", 100, "problems that are archived", valid=lambda n: n >= 1, expected="a whole number >= 1"),
    ),
    references=("lacoursiere2007",),
    rank=40,
    engine="spook",
)(None)
