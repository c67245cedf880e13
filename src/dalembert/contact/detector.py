"""`Detector`: contact points of bodies at given poses, and the memory that makes them persist from step to step.

    detector = Detector(Scene.of(model))
    count = detector.detect(x, q, reach, way) # world positions of centres of mass (n, 3), quaternions (n, 4), extra reach (n,), way (n, 6)
    contacts = detector.contacts              # views: bodies, key, feature, point, normal, gap, material
    detector.warm_start(lam)                  # impulses (count, 3) of the last step in the frames (normal, two tangents) of this one
    ...                                       # solve
    detector.remember(lam)

All that the next detection depends on are the arrays of `memory()`. Pairs of which no body is awake (`watch`) are not detected; what is
remembered of them is held until one is. Spheres, boxes, hulls and planes are found by our own kernels
(kernels/contact/), all else by MuJoCo (contact/others.py). Contacts ahead of fast balls get the plane where the two come nearest
(kernels/contact/paths.py); edges of flush tiles are left out (kernels/contact/seams.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.contact.memories import MEMORY, Memory, join, nothing, part
from dalembert.contact.others import Others
from dalembert.contact.scene import Scene
from dalembert.errors import OptionError
from dalembert.kernels.contact import match as matching
from dalembert.kernels.contact.detect import GROW, detect
from dalembert.kernels.contact.hulls import LABELS, hull_pairs
from dalembert.kernels.contact.paths import turn_planes
from dalembert.kernels.contact.seams import leave_out_seams
from dalembert.kernels.contact.tables import AXES, BOX, CONTACTS, HULL, PAIRS, SPHERE, Found, Settings, Work
from dalembert.kernels.status import OK

#: h = 1/60 and cubes of 0.2 m come to rest with these; see kernels/contact/boxes.py
MARGIN, SLACK, CLIP, ANGLE, NEAR = 4e-3, 2e-4, 1e-4, 0.035, 0.02


class Detector:
    """Contacts of a scene. margin: contact points have gaps below this (m, less between shapes below 5 cm: see Scene), plus the reaches of
    the two bodies. near: how far a contact point may move in a step and still be the same."""

    def __init__(
        self, scene: Scene, margin: float = MARGIN, slack: float = SLACK, clip: float = CLIP, angle: float = ANGLE, near: float = NEAR
    ):
        self.scene, self.near = scene, float(near)
        self.settings = Settings(float(margin), float(slack), float(clip), float(angle))
        self.count = 0
        self._work = _work(scene, 64 + 8 * len(scene.placed))
        self._found, self._frames = _found(64 + 16 * len(scene.placed))
        self._seen = -1, self._found, self._found  # how many, of which arrays, views
        self._others = Others.of(scene)
        self._hulls = _scratch(scene) if np.count_nonzero(scene.shapes.kind == HULL) else None
        self._still, self._nowhere = np.zeros(len(scene.bodies)), np.zeros((len(scene.bodies), 6))
        self._capsule = np.array([p.shape.kind == "capsule" for p in scene.placed], dtype=np.int64)
        self._balls = bool((scene.shapes.kind == SPHERE).any())
        self._tiles = np.count_nonzero(scene.shapes.owner < 0) > 1
        self._last = np.zeros(len(scene.placed), dtype=np.int64)
        self._matched = np.zeros(0, dtype=np.int64)
        self.forget()

    @property
    def contacts(self) -> Found:
        """The contacts of the last detection, in the order of their keys: views, which the next detection overwrites."""
        if self._seen[0] != self.count or self._seen[1] is not self._found:
            self._seen = self.count, self._found, Found(*(a[: self.count] for a in self._found))
        return self._seen[2]

    @property
    def frames(self) -> Array:
        """(count, 3, 3): rows normal, first and second tangent, right-handed, functions of the normal alone."""
        return self._frames[: self.count]

    @property
    def materials(self) -> Array:
        """(k, 18): friction, restitution, compliance, damping time, `materials.FURTHER`; NaN: not given. Rows: `contacts.material`."""
        return self.scene.materials

    def detect(self, x: Array, q: Array, reach: Array | None = None, way: Array | None = None) -> int:
        """Find the contacts of bodies at x (n, 3), q (n, 4). reach (n,): how much nearer each may come in the step; way (n, 6): turn (axes
        of the body) and way of its centre of mass in the step, if nothing holds it. Returns how many there are, or -1 where a state is not
        finite."""
        x, q = np.ascontiguousarray(x, dtype=float), np.ascontiguousarray(q, dtype=float)
        extra = self._still if reach is None else np.ascontiguousarray(reach, dtype=float)
        m, scene = self._memory, self.scene
        status = GROW
        while status == GROW:
            status = detect(
                scene.shapes, scene.filters, self.settings, x, q, extra, self._work, m["axis_keys"], m["axis_codes"], self._found
            )
            if status == GROW:
                self._grow()
        self.count = 0
        if status != OK:
            return -1
        counts = self._work.counts
        self.count, axes = int(counts[CONTACTS]), int(counts[AXES])
        m["axis_keys"], m["axis_codes"] = self._work.axis_keys[:axes].copy(), self._work.axis_codes[:axes].copy()
        own = self.count
        if self._hulls is not None:
            self._add_hulls(extra)
        if self._others is not None:
            self._add_others(x, q, extra, self._nowhere if way is None else way)
        if self.count > own:
            order = np.argsort(self._found.key[: self.count], kind="stable")
            for a in self._found:
                a[: self.count] = a[: self.count][order]
        self._look_ahead(x, q, extra, way)
        matching.frames(self._found.normal, self.count, self._frames)
        return self.count

    def _look_ahead(self, x: Array, q: Array, reach: Array, way: Array | None) -> None:
        """Planes of contacts ahead of balls, and contacts with edges of tiles that cannot be struck."""
        s, w, found = self.scene.shapes, self._work, self._found
        if way is not None and self._balls:
            turn_planes(s, self._capsule, w.c, w.R, x, q, reach, way, self.count, found)
        if self._tiles:
            if len(self._matched) < self.count:
                self._matched = np.empty(len(found.gap), dtype=np.int64)
            self.count = leave_out_seams(s, w.c, w.R, self.settings.slack, self.count, found, self._last, self._matched)

    def _add_others(self, x: Array, q: Array, reach: Array, way: Array) -> None:
        """What MuJoCo finds."""
        assert self._others is not None
        self._others.find(x, q, reach, self.settings.margin)
        while (total := self._others.take(self.settings, reach, way, self._work, self._found, self.count)) > len(self._found.gap):
            self._grow_found(total)
        self.count = total

    def _add_hulls(self, reach: Array) -> None:
        """Hulls with hulls and boxes, among the candidates of the sweep."""
        m, s, work = self._memory, self.scene, self._work
        total = len(self._found.gap) + 1
        while total > len(self._found.gap):
            total, axes = hull_pairs(
                s.shapes,
                s.filters,
                self.settings,
                s.polytopes,
                reach,
                work,
                m["hull_keys"],
                m["hull_codes"],
                self._hulls,
                self._found,
                self.count,
            )
            if total > len(self._found.gap):
                self._grow_found(total)
        self.count = total
        m["hull_keys"], m["hull_codes"] = work.axis_keys[:axes].copy(), work.axis_codes[:axes].copy()

    def _grow(self) -> None:
        """Room for what was counted, and some more."""
        counts = self._work.counts
        if counts[PAIRS] > len(self._work.pairs):
            order, axis, awake = self._work.order, counts.copy(), self._work.awake
            self._work = _work(self.scene, int(1.5 * counts[PAIRS]))
            self._work.order[:], self._work.counts[:], self._work.awake[:] = order, axis, awake
        if counts[CONTACTS] > len(self._found.gap):
            self._grow_found(int(counts[CONTACTS]))

    def _grow_found(self, wanted: int) -> None:
        old = self._found
        self._found, self._frames = _found(int(1.5 * wanted))
        for a, b in zip(self._found, old, strict=True):
            a[: len(b)] = b

    # memory ------------------------------------------------------------------------------------------------------------------------

    def match(self) -> Any:
        """(count,): for each contact its place among the remembered ones, or -1."""
        m, c = self._memory, self._found
        if len(self._matched) < self.count:
            self._matched = np.empty(len(c.gap), dtype=np.int64)
        scale = self.scene.shapes.scale
        matching.match(c.key, c.feature, c.point, self.count, m["keys"], m["features"], m["points"], scale, self.near, self._matched)
        return self._matched[: self.count]

    def warm_start(self, lam: Array) -> Any:
        """Write the remembered impulses of matched contacts into lam (count, 3), normal and two tangents; new ones: 0. Returns match()."""
        matched = self.match()
        matching.to_frames(self._frames, matched, self._memory["impulses"], self.count, lam)
        return matched

    def remember(self, lam: Array) -> None:
        """Keep the contacts with their impulses lam (count, 3) for the next step."""
        impulses = np.empty((self.count, 3))
        matching.to_world(self._frames, lam, self.count, impulses)
        self._store(impulses)

    def keep(self, chosen: Any, n: int, lam: Array, at: int, start: Array, part: float) -> float:
        """`remember` of the first n chosen contacts, whose rows of lam begin at `at`: start (count, 3) + part (lam - start); others 0.
        Returns the deepest penetration of all."""
        impulses = np.empty((self.count, 3))
        deepest = matching.keep(self._frames, self._found.gap, chosen, n, lam, at, start, part, self.count, impulses)
        self._store(impulses)
        return float(deepest)

    def _store(self, impulses: Array) -> None:
        c = self.contacts
        self._memory.update(keys=c.key.copy(), features=c.feature.copy(), points=c.point.copy(), impulses=impulses)

    def forget(self) -> None:
        """As if nothing had been detected yet."""
        self._memory, self._held = nothing(), nothing()
        self._work.placed[:] = 0

    def glance(self) -> tuple[Memory, Memory]:
        """`memory` without copies: what is in use, and what is held of pairs of which no body is awake."""
        return dict(self._memory), self._held

    def rewind(self, used: Memory) -> None:
        """Use what was in use at a `glance`, in place of what a detection has made of it."""
        self._memory = dict(used)

    def memory(self) -> Memory:
        """Copies of all that the next detection and its warm start depend on: axes of pairs, contacts with impulses (world axes)."""
        return join(self._memory, self._held)

    def restore(self, arrays: Memory) -> None:
        """Go on from what `memory` gave, for the same scene."""
        missing = [name for name in MEMORY if name not in arrays]
        if missing:
            raise OptionError(f"memory of contacts: {', '.join(missing)} missing; expected {', '.join(MEMORY)}.")
        none = nothing()
        given = {name: np.array(arrays[name], dtype=like.dtype).reshape(-1, *like.shape[1:]) for name, like in none.items()}
        self._memory, self._held = part(join(given, none), self._work.awake)

    # sleep -------------------------------------------------------------------------------------------------------------------------

    def watch(self, awake: Any) -> None:
        """awake (n,): which bodies are. What is remembered of pairs of others is held, and put back when one of them is."""
        owner = self.scene.shapes.owner
        self._work.awake[:], self._work.placed[:] = np.append(awake, False)[owner], 0  # the world, -1, is not
        self._memory, self._held = part(self.memory(), self._work.awake)

    def held_bodies(self) -> Any:
        """(m, 2): bodies of the contacts that are held."""
        owner = self.scene.shapes.owner
        return np.stack([owner[k] for k in np.divmod(self._held["keys"], max(len(owner), 1))], axis=1)


def _work(scene: Scene, capacity: int) -> Work:
    n, kind = len(scene.placed), scene.shapes.kind
    ints: Any = np.int64
    order = np.flatnonzero((kind == SPHERE) | (kind == BOX) | (kind == HULL)).astype(ints)
    return Work(
        awake=(scene.shapes.owner >= 0).astype(ints),
        placed=np.zeros(n, dtype=ints),
        c=np.zeros((n, 3)),
        R=np.zeros((n, 3, 3)),
        low=np.zeros((n, 3)),
        high=np.zeros((n, 3)),
        order=order,
        sorted_boxes=np.zeros((len(order), 5)),
        start=np.zeros(n + 1, dtype=ints),
        pairs=np.zeros((capacity, 2), dtype=ints),
        second=np.zeros(capacity, dtype=ints),
        polygon=np.zeros((2, 16, 3)),
        label=np.zeros((2, 16), dtype=ints),
        C=np.zeros((3, 3)),
        s=np.zeros(15),
        axis_keys=np.zeros(capacity, dtype=ints),
        axis_codes=np.zeros(capacity, dtype=ints),
        counts=np.zeros(4, dtype=ints),
    )


def _scratch(scene: Scene) -> tuple[Array, Array, Array, Any]:
    """World vertices and normals, polygons and their labels."""
    vertices, faces = len(scene.shapes.vertices), len(scene.polytopes.face_normal)
    return np.zeros((vertices, 3)), np.zeros((faces, 3)), np.zeros((2, LABELS, 3)), np.zeros((2, LABELS), dtype=np.int64)


def _found(capacity: int) -> tuple[Found, Array]:
    ints: Any = np.int64
    found = Found(
        bodies=np.zeros((capacity, 2), dtype=ints),
        key=np.zeros(capacity, dtype=ints),
        feature=np.zeros(capacity, dtype=ints),
        point=np.zeros((capacity, 3)),
        normal=np.zeros((capacity, 3)),
        gap=np.zeros(capacity),
        material=np.zeros(capacity, dtype=ints),
    )
    return found, np.zeros((capacity, 3, 3))
