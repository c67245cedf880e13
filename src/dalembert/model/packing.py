"""Triangles of large meshes as short text, for files.

Points that float32 holds exactly, as those of imported meshes, and triangles as differences of successive indices (odd numbers are
negative ones); bytes of equal rank side by side, deflated, in base64. About 8 characters per triangle, where JSON takes 50.
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError

FEW = 100  # triangles that stay as plain numbers
MOST = 50_000_000  # points, and triangles


def packed(points: Any, triangles: Any) -> dict[str, Any] | None:
    """Plain data that `unpacked` reads; None where there are few triangles, or float32 does not hold the points exactly."""
    if len(triangles) < FEW:
        return None
    exact, index = np.array(points, dtype=float), np.array(triangles, dtype=np.int64)
    with np.errstate(over="ignore"):
        short = exact.astype("<f4")
    if not np.array_equal(short, exact) or max(len(exact), len(index)) > MOST:
        return None
    steps = np.diff(index.ravel(), prepend=0)
    signed = (np.abs(steps) * 2 - (steps < 0)).astype("<u4")  # 0, -1, 1, -2, ...
    raw = b"".join(_by_rank(a) for a in (short.ravel(), signed))
    return {"points": len(exact), "triangles": len(index), "data": base64.b64encode(zlib.compress(raw, 6)).decode("ascii")}


def unpacked(data: Any) -> tuple[Array, Array]:
    """Points (n, 3) and triangles (m, 3)."""
    try:
        n, m = (int(data[what]) for what in ("points", "triangles"))
        if not (0 <= n <= MOST and 0 <= m <= MOST):
            raise ValueError(f"{n} points and {m} triangles")
        raw = zlib.decompressobj().decompress(base64.b64decode(data["data"], validate=True), 12 * (n + m) + 1)
        if len(raw) != 12 * (n + m):
            raise ValueError(f"{len(raw)} bytes; expected {12 * (n + m)}")
    except (KeyError, TypeError, ValueError, zlib.error) as problem:
        raise ModelError(f"mesh: packed triangles cannot be read ({problem}).") from None
    points = _in_order(raw[: 12 * n]).view("<f4").astype(float).reshape(n, 3)
    signed = _in_order(raw[12 * n :]).view("<u4").astype(np.int64)
    steps = np.where(signed % 2, -((signed + 1) // 2), signed // 2)
    return points, np.cumsum(steps).reshape(m, 3)


def _by_rank(a: Any) -> bytes:
    return np.ascontiguousarray(a.view(np.uint8).reshape(-1, 4).T).tobytes()


def _in_order(raw: bytes) -> Any:
    return np.ascontiguousarray(np.frombuffer(raw, dtype=np.uint8).reshape(4, -1).T).ravel()
