"""`null-space`: nodes are stationary points of the discrete action of straight paths, evaluated here from the poses of the bodies."""

import numpy as np
import pytest

import dalembert as dal

H = 0.01


def second_moments(m):
    """(4, 4) of every body, about its frame: sum mu (X, 1) (X, 1)^T."""
    out = {}
    for b in m.bodies:
        if b.massless:
            continue
        E = 0.5 * np.trace(b.inertia) * np.eye(3) - b.inertia + b.mass * np.outer(b.com, b.com)
        out[b.name] = np.block([[E, b.mass * b.com[:, None]], [b.mass * b.com[None, :], np.array([[b.mass]])]])
    return out


def action(m, moments, q0, q1, h):
    """L_d: sum over bodies of 1/(2h) sum mu |x1 - x0|^2, less h times the mean of the potential energies of the nodes."""
    names = [b.name for b in m.bodies]
    g0, g1 = m.poses(q0), m.poses(q1)
    kinetic = sum(np.sum((d := (g1 - g0)[names.index(name)][:3]) @ J * d) for name, J in moments.items()) / (2 * h)
    return kinetic - 0.5 * h * (m.potential_energy(q0) + m.potential_energy(q1))


def slope(f, n):
    """Gradient at 0 by central differences of order 4: error some 1e-11 |f| for steps of 1e-3."""
    d = 1e-3
    out = np.zeros(n)
    for i in range(n):
        e = np.eye(n)[i]
        out[i] = (8 * (f(d * e) - f(-d * e)) - (f(2 * d * e) - f(-2 * d * e))) / (12 * d)
    return out


@pytest.mark.parametrize("machine", ["pinned", "tree", "chain"])
def test_nodes_are_stationary_points_of_the_discrete_action(machine, run, request):
    machine = request.getfixturevalue(machine)
    m = machine.model.without(("armature",)) if machine.model.check_features(("armature",)) else machine.model
    traj = dal.simulate(m, "null-space", h=H, t_end=3 * H, q0=machine.q0, v0=machine.v0)
    moments = second_moments(m)
    for k in (1, 2):
        before, here, after = traj.q[k - 1 : k + 2]
        left = slope(lambda x, q=before, p=here: action(m, moments, q, m.integrate(p, x), H), m.nv)
        right = slope(lambda x, q=after, p=here: action(m, moments, m.integrate(p, x), q, H), m.nv)
        assert np.abs(left + right).max() < 1e-8 * (1 + np.abs(left).max())
        assert np.abs(left).max() > 0.1  # the momentum: what is balanced is not nothing


def test_a_free_body_moves_as_moser_and_veselov_say():
    m = dal.Model("body", gravity=(0, 0, 0))
    m.add_body("b", 1.0, (1.0, 2.0, 2.5))
    v0 = [1.0, 0.4, -0.7, 0.3, 0.2, 0.1]
    a = dal.simulate(m, "null-space", h=0.05, t_end=20, v0=v0)
    b = dal.simulate(m, "moser-veselov", h=0.05, t_end=20, v0=v0)
    turn = np.abs(np.einsum("ij,ij->i", a.q[:, 3:], b.q[:, 3:]))
    assert turn.min() > 1 - 1e-12 and np.abs(a.v - b.v).max() < 1e-10  # 400 steps at 1e-13


def test_a_chain_of_a_thousand_links_takes_no_more_corrections_than_one_of_ten():
    def step(n):
        m = dal.Model(f"chain of {n}")
        for k in range(n):
            m.add_body(f"r{k}", 1.0, (0.1, 0.1, 0.01), com=(0, 0, -0.5), pose=((0, 0, -k), (1, 0, 0, 0)))
            m.add_joint(f"j{k}", "revolute", "world" if k == 0 else f"r{k - 1}", f"r{k}", anchor=(0, 0, -k), axis=(0, 1, 0))
        traj = dal.simulate(m, "null-space", h=1e-3, t_end=0.02, q0=np.full(n, 0.01))
        assert traj.report().verdict != "fail"
        return traj

    few, many = step(10), step(1000)
    assert np.all(np.isfinite(many.q)) and many.solver["iterations"].mean() < few.solver["iterations"].mean() + 4


def test_loops_stay_closed_and_the_motion_is_that_of_midpoint_to_second_order(run, closure):
    scene = dal.scenes.find("four-bar")
    m = scene.model().frozen()
    difference = []
    for h in (0.01, 0.005, 0.0025):
        a, b = (dal.simulate(m, name, h=h, t_end=0.5, q0=scene.q0, v0=scene.v0) for name in ("null-space", "midpoint"))
        gap, rate = closure(a)
        assert gap < 1e-12 and rate < 1e-10
        difference.append(np.abs(a.q[-1] - b.q[-1]).max())
    assert np.allclose(np.log2(np.divide(difference[:-1], difference[1:])), 2.0, atol=0.1)
