"""A method of your own: the Runge-Kutta-Munthe-Kaas method of order 4, in plain Python, judged by the contract of all methods.

    python examples/own_stepper.py

The step stays on the group: q+ = q exp(theta), where theta obeys theta_dot = dexp^-1(-theta) v and is integrated, together with v, by the
classical Runge-Kutta method. Order 4 and unit quaternions are promised and checked; conservation is not, and over a long run it shows
against a structure-preserving method.
"""

from __future__ import annotations

import numpy as np

import dalembert as dal


def acceleration(m, q, v):
    """Newton-Euler equations of one body: free with its centre of mass at the frame's origin, or on a pivot at the origin."""
    body, free = m.bodies[0], m.nv == 6
    arm = np.zeros(3) if free else body.com
    J = body.inertia + body.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    omega, R = v[:3], m.poses(q)[0, :3, :3]
    weight = R.T @ (body.mass * m.gravity)
    omega_dot = np.linalg.solve(J, np.cross(J @ omega, omega) + np.cross(arm, weight))
    return np.concatenate([omega_dot, weight / body.mass - np.cross(omega, v[3:])]) if free else omega_dot


@dal.stepper("rkmk4", order=4, conserves=("attitude: exactly",))
def rkmk4(m, t, q, v, h):
    """Runge-Kutta-Munthe-Kaas of order 4."""
    dexp_inv = dal.se3.dexp_inv if m.nv == 6 else dal.so3.dexp_inv

    def rate(theta, u):
        return dexp_inv(-theta) @ u, acceleration(m, m.integrate(q, theta), u)

    zero = np.zeros(m.nv)
    a1, b1 = rate(zero, v)
    a2, b2 = rate(h / 2 * a1, v + h / 2 * b1)
    a3, b3 = rate(h / 2 * a2, v + h / 2 * b2)
    a4, b4 = rate(h * a3, v + h * b3)
    return m.integrate(q, h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)), v + h / 6 * (b1 + 2 * b2 + 2 * b3 + b4)


def main(t_end: float = 400.0) -> None:
    """Check the contract, then compare on a long run."""
    verdict = dal.check_stepper("rkmk4")
    print(verdict)
    assert verdict.passed
    scene = dal.scenes.find("free-body")
    result = dal.compare(scene.model(), [("rkmk4", 0.25), ("quaternion", 0.25)], t_end, scene.q0, scene.v0)
    print(result.text)
    mine, theirs = result.rows
    assert mine.energy_band > 1e-8 and mine.momentum > 1e-8  # of order 4: small, and growing with time
    assert theirs.energy_band < 1e-12 and theirs.momentum < 1e-12  # exact: round-off


if __name__ == "__main__":
    main()
