"""The judge of this folder: dense solutions, refined in extended precision."""

import numpy as np
import pytest

EPS = np.finfo(float).eps


class Judge:
    """The solution of K z = rhs to nearly full precision, and the error that round-off allows a backward stable method."""

    def __init__(self, saddle, b, c):
        K, rhs = saddle.K().toarray(), np.concatenate([b, c]).astype(np.longdouble)
        self.scale = np.sqrt(np.abs(K).max(axis=1)) if len(K) else np.ones(0)
        balanced = K / self.scale[:, None] / self.scale[None, :]
        self.condition = np.linalg.cond(balanced) if len(K) else 1.0
        inverse = np.linalg.inv(balanced)
        wide, target = balanced.astype(np.longdouble), rhs / self.scale
        z = np.zeros(len(K), dtype=np.longdouble)
        for _ in range(6):
            z += inverse @ (target - wide @ z).astype(float)
        self.z = z

    def error(self, x, y):
        """Relative error in balanced units."""
        z = np.concatenate([x, y]) * self.scale
        return float(np.linalg.norm((z - self.z).astype(float)) / max(float(np.linalg.norm(self.z.astype(float))), 1e-300))

    def accepts(self, x, y, factor=100.0):
        """factor: growth of round-off over the operations on one unknown, a few dozen in all our systems."""
        found, allowed = self.error(x, y), factor * EPS * self.condition
        assert found <= allowed, (found, allowed, self.condition)


@pytest.fixture(scope="session")
def judge():
    return Judge


@pytest.fixture(scope="session")
def sides():
    """Right-hand sides."""

    def make(saddle, seed=1):
        rng = np.random.default_rng(seed)
        return rng.normal(size=6 * saddle.n_bodies), rng.normal(size=saddle.jacobian.n_rows)

    return make
