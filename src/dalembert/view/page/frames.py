"""Which nodes a replay shows, and the poses of the bodies there as seven numbers: position, quaternion (scalar first), float32.

Frames are spread evenly over the run. Where bodies would turn or travel too far between two of them to be followed, windows of neighbouring
frames are shown instead, at the beginning, in the middle and at the end; the player goes from one to the next.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dalembert.arrays import Array
from dalembert.model import Model

MOST = 2000  # frames
FEWEST = 60  # of a window
WINDOWS = 3
TURN = 0.7  # rad between two frames that can be followed
STEP = 0.35  # of the size of what is shown
PROBES = 400  # pairs of neighbours that are looked at
BLOCK = 2**15  # poses at once
FAR = 1e15  # coordinates of a motion that has exploded
ZERO = np.zeros(3)


class Frames(NamedTuple):
    """times (n,) s; segments: first and last frame of each window."""

    times: Array
    segments: list[tuple[int, int]]

    @property
    def whole(self) -> bool:
        """Whether the run is shown from beginning to end."""
        return len(self.segments) == 1


def most_frames(bodies: int, budget: int) -> int:
    """As many as fit into so many bytes."""
    return int(min(MOST, max(2, budget // (28 * max(bodies, 1)))))


def usable(q: Array) -> NDArray[np.bool_]:
    """(n,) which configurations can be drawn: finite, and not so far away that single precision ends."""
    with np.errstate(invalid="ignore"):
        return np.asarray((np.abs(q) < FAR).all(axis=1))


def choose_frames(model: Model, t: Array, q: Array, most: int, size: float) -> Frames:
    """Frames at nodes of a run; size: of the machine, m. Nodes that cannot be drawn are left out."""
    good = np.flatnonzero(usable(q))
    if len(good) <= most:
        return Frames(t[good], [(0, len(good) - 1)])
    stride = (len(good) - 1) / (most - 1)
    finest = followed_stride(model, q[good], size, max(1, int(np.ceil(stride))))
    if finest >= stride or most < WINDOWS * FEWEST:
        nodes = good[np.unique(np.linspace(0, len(good) - 1, most).astype(int))]
        return Frames(t[nodes], [(0, len(nodes) - 1)])
    span = (most // WINDOWS - 1) * finest
    starts = np.linspace(0, len(good) - 1 - span, WINDOWS).astype(int)
    chosen = [good[s : s + span + 1 : finest] for s in starts]
    ends = np.cumsum([len(c) for c in chosen])
    segments = [(int(e - len(c)), int(e - 1)) for e, c in zip(ends, chosen, strict=True)]
    return Frames(t[np.concatenate(chosen)], segments)


def followed_stride(model: Model, q: Array, size: float, wanted: int) -> int:
    """The most nodes, a power of two up to `wanted`, that may be skipped so that the eye can follow in most places."""
    stride = 1
    while stride < wanted:
        following = min(2 * stride, wanted)
        starts = np.unique(np.linspace(0, len(q) - 1 - following, PROBES).astype(int))
        a, b = (packed(model.poses(q[starts + k])) for k in (0, following))
        turn = 2.0 * np.arccos(np.clip(np.abs(np.einsum("fbi,fbi->fb", a[..., 3:], b[..., 3:])), 0.0, 1.0)).max(axis=1)
        step = np.linalg.norm(a[..., :3] - b[..., :3], axis=2).max(axis=1)
        if np.quantile(turn, 0.9) > TURN or np.quantile(step, 0.9) > STEP * size:
            break
        stride = following
    return stride


def packed(poses: Array) -> Array:
    """Poses (..., 4, 4) as position and unit quaternion with scalar first, (..., 7)."""
    R = poses[..., :3, :3]
    out = np.empty((*poses.shape[:-2], 7))
    out[..., :3] = poses[..., :3, 3]
    out[..., 3:] = quaternions(R)
    return out


def quaternions(R: Array) -> Array:
    """Of rotation matrices, from the row of 4 q q^T with the largest diagonal entry."""
    trace = np.einsum("...ii", R)
    square = np.stack([1.0 + trace, *(1.0 + 2.0 * R[..., i, i] - trace for i in range(3))], axis=-1)
    K = np.empty((*R.shape[:-2], 4, 4))
    K[..., range(4), range(4)] = square
    for i, (a, b) in enumerate(((2, 1), (0, 2), (1, 0))):
        K[..., 0, i + 1] = K[..., i + 1, 0] = R[..., a, b] - R[..., b, a]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        K[..., i + 1, j + 1] = K[..., j + 1, i + 1] = R[..., i, j] + R[..., j, i]
    best = np.take_along_axis(K, np.argmax(square, axis=-1)[..., None, None], axis=-2)[..., 0, :]
    return np.asarray(best / np.linalg.norm(best, axis=-1, keepdims=True))


def poses_at(traj: Any, times: Array, origin: Array = ZERO) -> NDArray[np.float32]:
    """(times, bodies, 7) at any times, positions relative to an origin, so that single precision suffices for what is far away.

    Between nodes by the shortest way; NaN behind the end of the run and where it is not finite.
    """
    t, bodies = traj.t, len(traj.model.bodies)
    k = np.clip(np.searchsorted(t, times, side="right") - 1, 0, max(len(t) - 2, 0))
    after = np.minimum(k + 1, len(t) - 1)
    gap = np.where(t[after] > t[k], t[after] - t[k], 1.0)
    s = np.clip((times - t[k]) / gap, 0.0, 1.0)
    out = np.empty((len(times), bodies, 7), dtype=np.float32)
    block = max(1, BLOCK // max(bodies, 1))
    with np.errstate(invalid="ignore", over="ignore"):
        for i in range(0, len(times), block):
            part = slice(i, i + block)
            a, b = (packed(traj.model.poses(traj.q[nodes[part]])) for nodes in (k, after))
            out[part] = _between(a, b, s[part]) - np.append(origin, np.zeros(4))
    late = 1e-9 * max(float(t[-1] - t[0]), 1e-300)
    out[(times > t[-1] + late) | (times < t[0] - late)] = np.nan
    return out


def _between(a: Array, b: Array, s: Array) -> Array:
    """Linear in positions; the normalised chord of quaternions on one half of the sphere."""
    w = s[:, None, None]
    sign = np.where(np.einsum("fbi,fbi->fb", a[..., 3:], b[..., 3:]) < 0.0, -1.0, 1.0)[..., None]
    mixed = (1.0 - w) * a + w * b
    turned = (1.0 - w) * a[..., 3:] + w * sign * b[..., 3:]
    mixed[..., 3:] = turned / np.maximum(np.linalg.norm(turned, axis=-1, keepdims=True), 1e-300)
    return mixed
