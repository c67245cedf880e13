"""Which bodies are calm and which islands may sleep, against the rules in plain Python."""

import numpy as np
import pytest

from dalembert.kernels.bodies.motion import ASLEEP, BALANCED
from dalembert.kernels.contact.sleep import SLEEPS, loaded, rest, tired, touched

LONG = 0.5


def may_sleep(calm, mode, pair, pressed):
    """The rule, by walking from body to body."""
    n, out = len(calm), np.zeros(len(calm), dtype=np.int64)
    awake = [k for k in range(n) if mode[k] != ASLEEP]
    for start in awake:
        island, todo = {start}, [start]
        while todo:
            k = todo.pop()
            near = {int(x) for p in pair if k in p for x in p} & set(awake)
            todo += near - island
            island |= near
        held = all(any(k in p and on for p, on in zip(pair, pressed, strict=True)) for k in island)
        ground = any(on and p[0] < 0 and int(p[1]) in island for p, on in zip(pair, pressed, strict=True))
        out[start] = held and ground and all(calm[k] >= LONG for k in island)
    return out


@pytest.mark.nojit
@pytest.mark.parametrize("seed", range(20))
def test_islands_that_may_sleep(seed):
    rng = np.random.default_rng(seed)
    n, count = 12, 16
    mode = np.where(rng.random(n) < 0.2, ASLEEP, BALANCED)
    calm = np.where(mode == ASLEEP, SLEEPS, rng.choice([0.4, 0.5, 3.0], n, p=[0.1, 0.45, 0.45]))
    pair = np.sort(np.array([rng.choice(np.arange(-1, n), 2, replace=False) for _ in range(count)]), axis=1)
    pair[:8, 0] = -1
    pair[:8, 1] = rng.permutation(n)[:8]
    chosen = rng.permutation(count)
    lam = np.zeros(5 + 3 * count)
    lam[5::3] = np.where(rng.random(count) < 0.9, 1.0, 0.0)
    pressed = np.zeros(count, dtype=bool)
    rows = 14  # two contacts have none
    pressed[chosen[:rows]] = lam[5::3][:rows] > 0.0
    room = [np.zeros((count, 2), dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros((3, n), dtype=np.int64)]
    out = np.zeros(n, dtype=np.int64)
    found = tired(LONG, calm, mode, count, pair, chosen, rows, lam, 5, *room, out)
    expected = may_sleep(calm, mode, pair, pressed)
    assert np.array_equal(out, expected) and found == expected.sum()


@pytest.mark.nojit
def test_calm_is_counted_and_forgotten():
    """Slow, turning, pushed, bound, asleep."""
    n, states = 5, np.zeros((5, 13))
    states[0, 10], states[1, 7] = 0.9e-4, 2e-3  # m/s, and rad/s at 0.1 m
    push, weight = np.zeros(6 * n), np.zeros(6 * n)
    weight[5::6] = push[5::6] = -9.81
    push[6 * 2] = 1e-9
    bound, mode = np.array([0, 0, 0, 1, 0]), np.array([BALANCED] * 4 + [ASLEEP])
    calm = np.array([0.4, 0.4, 0.4, 0.4, SLEEPS])
    count = rest(0.1, 1e-4, LONG, np.full(n, 0.1), states, push, weight, bound, mode, calm)
    np.testing.assert_allclose(calm, [0.5, 0.0, 0.0, 0.0, SLEEPS])
    assert count == 1
    out = np.zeros(n, dtype=np.int64)
    push[6 * 4 + 3] = 1.0
    assert loaded(push, weight, mode, out) == 1 and out.tolist() == [0, 0, 0, 0, 1]


@pytest.mark.nojit
def test_what_is_awake_touches_what_sleeps():
    """Contacts of the world, of two that sleep, and those without rows do not count."""
    mode = np.array([BALANCED, ASLEEP, ASLEEP, ASLEEP, BALANCED])
    pair = np.array([[-1, 1], [0, 4], [0, 2], [2, 4], [1, 4]])
    out = np.zeros(5, dtype=np.int64)
    assert touched(np.arange(5), 4, pair, mode, out) == 1 and out.tolist() == [0, 0, 1, 0, 0]
    assert touched(np.arange(5), 2, pair, mode, out) == 0 and not out.any()
