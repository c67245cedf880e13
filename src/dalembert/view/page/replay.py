"""What the player of a page draws: solids, poses of some frames, contacts, events, and how the camera stands, as data in the page.

Places are relative to a corner of the grid on the floor near the machine: numbers of a page are in single precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import AnyArray, Array
from dalembert.model import Model
from dalembert.model.parts import WORLD
from dalembert.view.bodied import has_bodies
from dalembert.view.canvas import camera
from dalembert.view.framing import Frame, frame_of
from dalembert.view.ground import level_floor, world_pieces
from dalembert.view.links import groups_of, pieces_of, still_bodies
from dalembert.view.page.document import document
from dalembert.view.page.events import marks
from dalembert.view.page.frames import Frames, choose_frames, most_frames, poses_at, usable
from dalembert.view.page.geometry import encoded, geometry_of
from dalembert.view.page.markup import Markup, section, tag
from dalembert.view.picture import COLOURS
from dalembert.view.room import Links, fills, room_edges
from dalembert.view.sphere import com_paths
from dalembert.view.stage import BODY_COLOURS, round_length, sizes_of

PAGE_BYTES = 3_000_000  # of poses in a page
CONTACTS = 40_000  # rows in a page
SEEN = 100  # nodes that tell the camera where to stand
TRAILS, FEW = 12, 3
CANVAS = (960, 560)
HOLDING = ("revolute", "spherical", "universal", "cylindrical", "prismatic", "distance")


class Scene(NamedTuple):
    """data: for the player; note: what is shown, in words."""

    data: dict[str, Any]
    note: str


def replay_of(runs: Sequence[Any], names: Sequence[str] = (), budget: int = PAGE_BYTES, contacts_most: int = CONTACTS) -> Scene | None:
    """The replay of runs of one machine, laid over each other; None where there are no bodies, or nothing that moves in time."""
    first = runs[0]
    if not has_bodies(first.model) or max(len(r) for r in runs) < 2:
        return None
    model, leading = first.model, max(runs, key=lambda r: float(r.t[-1]))
    view = _view(model, leading)
    if view is None:
        return None
    frame, origin, geometry = view
    most = most_frames(len(model.bodies) * len(runs), budget)
    frames = choose_frames(model, leading.t, leading.q, most, frame.half)
    poses = [poses_at(_finite(run), frames.times, origin) for run in runs]
    data: dict[str, Any] = {
        "bodies": [b.name for b in model.bodies],
        "centres": encoded(np.array([b.com for b in model.bodies]).reshape(-1, 3), "<f4"),
        "solids": geometry.solids,
        "parts": geometry.parts,
        "times": encoded(frames.times, "<f8"),
        "segments": [list(s) for s in frames.segments],
        "runs": [
            {"name": names[i] if names else "", "colour": None if len(runs) == 1 else COLOURS[i % len(COLOURS)], "poses": encoded(p, "<f4")}
            for i, p in enumerate(poses)
        ],
        "trails": _trails(model, poses[0], frame),
        "anchors": [float(x) for joints in (model.joints, model.loops) for j in joints if _held(j) for x in j.anchor - origin],
        "lines": _lines(model, poses[0], origin),
        "camera": _camera(model, frame, frames, leading, origin),
        "floor": {"height": frame.floor - (0.0 if frame.follows else origin[2]), "real": level_floor(model) is not None},
        "marks": marks(first) if len(runs) == 1 else [],
        "contacts": _contacts(first, frames, frame.half, contacts_most, origin) if len(runs) == 1 else None,
    }
    return Scene(data, _note(frames, leading, len(runs)))


def replay_section(name: str, scene: Scene, title: str = "Replay") -> Markup:
    """Where the player goes; its data are in the document under the same name."""
    return section(title, tag("div", class_="player", data_scene=name), tag("p", scene.note, class_="note"), name=f"{name}-section")


def frame_html(run: Any, budget: int) -> str | None:
    """A page with the replay alone, for a frame in a notebook; None where there is nothing to replay."""
    scene = replay_of([run], budget=budget, contacts_most=CONTACTS // 4)
    return None if scene is None else document("replay", [replay_section("replay", scene)], {"replay": scene.data}, embedded=True)


def _finite(run: Any) -> Any:
    """The run as far as its numbers go."""
    good = usable(run.q)
    return _Nodes(run.model, run.t[good], run.q[good]) if not good.all() and good.any() else run


class _Nodes(NamedTuple):
    model: Model
    t: Array
    q: Array


def _view(model: Model, run: Any) -> tuple[Frame, Array, Any] | None:
    """Where the camera stands, the origin of all places, and what is seen."""
    nodes = np.unique(np.linspace(0, len(run.t) - 1, SEEN).astype(int))
    q = run.q[nodes]
    q = q[usable(q)]
    if not len(q):
        return None
    poses, centres, pieces = model.poses(q), np.stack(com_paths(model, q), axis=1), pieces_of(model)
    pieces += world_pieces(model, centres, sizes_of(pieces))
    room = room_edges(model)
    room = room if len(room) and fills(room, centres) else room[:0]
    frame = frame_of(model, pieces, poses, centres, CANVAS, camera(), level_floor(model), room.reshape(-1, 3))
    origin = _origin(frame, frame.centre + frame.middle(centres[0]))
    return frame, origin, geometry_of(model, centres, 2.0 * frame.half, origin)


def _origin(frame: Frame, place: Array) -> Array:
    """The corner next to a place of a grid that the lines and tiles of the floor repeat in; 0 for what is near the origin."""
    period = 10.0 * round_length(frame.half / 2.5)
    return period * np.round(place / period) + 0.0


def _trails(model: Model, poses: AnyArray, frame: Frame) -> list[list[Any]]:
    """[body, colour] whose paths are drawn: bodies with mass if they are few, else the last ones of the chains that travel farthest."""
    still = still_bodies(model)
    heavy = [i for i, b in enumerate(model.bodies) if not b.massless and frame.kept[i] and b.name not in still]
    if len(heavy) > FEW:
        carrying = {j.parent for j in model.joints if j.kind != "fixed"} | {x.parent for x in model.loops}
        heavy = [i for i in heavy if model.bodies[i].name not in carrying]
    with np.errstate(invalid="ignore"):
        travel = {i: float(np.linalg.norm(np.ptp(poses[:, i, :3], axis=0))) for i in heavy}
    far = sorted(heavy, key=lambda i: -travel[i])[:TRAILS]
    groups = groups_of(model)
    return [[i, BODY_COLOURS[groups[i] % len(BODY_COLOURS)]] for i in sorted(far)]


def _held(joint: Any) -> bool:
    """Whether the world holds the machine there."""
    return joint.parent == WORLD and joint.kind in HOLDING and joint.anchor is not None


def _lines(model: Model, poses: AnyArray, origin: Array) -> list[list[Any]]:
    """[body, place, body, place]: links of fixed length, edges of a room; the world is -1, its places are relative to the origin."""
    world = len(model.bodies)
    ends = [[(-1, place - origin) if body == world else (body, place) for body, place in pair] for pair in Links(model).ends]
    out = [[x for body, place in pair for x in (body, np.asarray(place).tolist())] for pair in ends]
    room = room_edges(model) - origin
    if len(room) and fills(room, np.asarray(poses[..., :3], dtype=float)):
        out += [[-1, a.tolist(), -1, b.tolist()] for a, b in room]
    return out


def _camera(model: Model, frame: Frame, frames: Frames, run: Any, origin: Array) -> dict[str, Any]:
    follow = None
    if frame.follows:
        nodes = np.clip(np.searchsorted(run.t, frames.times), 0, len(run.t) - 1)
        follow = encoded(frame.middle(np.stack(com_paths(model, run.q[nodes]), axis=1)) - origin, "<f4")
    centre, kept = (frame.centre - (0.0 if frame.follows else origin)).tolist(), np.flatnonzero(frame.kept).tolist()
    return {"centre": centre, "half": float(frame.half), "follow": follow, "kept": kept}


def _contacts(run: Any, frames: Frames, size: float, room: int, origin: Array) -> dict[str, Any] | None:
    """Points and forces of the contacts of each frame: those that press, the strongest ones where they are many."""
    table = run.contacts
    if not len(table.rows) or "jx" not in table.columns or not run.h > 0.0:
        return None
    nodes = np.clip(np.searchsorted(run.t, frames.times), 0, len(run.t) - 1)
    at = [table.columns.index(c) for c in ("px", "py", "pz", "jx", "jy", "jz")]
    most, rows = max(4, room // len(nodes)), []
    for k in nodes:
        found = table.of(int(k))[:, at]
        strength = np.linalg.norm(found[:, 3:], axis=1)
        chosen = np.argsort(-strength)[:most]
        rows.append(found[chosen[strength[chosen] > 0.0]])
    every = np.concatenate(rows) if rows else np.zeros((0, 6))
    if not len(every):
        return None
    forces = every[:, 3:] / run.h
    usual = float(np.quantile(np.linalg.norm(forces, axis=1), 0.9))
    return {
        "counts": encoded(np.array([len(r) for r in rows]), "<u4"),
        "rows": encoded(np.concatenate([every[:, :3] - origin, forces], axis=1), "<f4"),
        "scale": 0.3 * size / max(usual, 1e-300),
        "usual": usual,
    }


def _note(frames: Frames, run: Any, runs: int) -> str:
    shown = f"{len(frames.times):,} of {len(run.t):,} nodes"
    if not frames.whole:
        spans = ", ".join(f"{frames.times[a]:.4g} … {frames.times[b]:.4g} s" for a, b in frames.segments)
        said = f"{shown}: the motion is too quick to show all of the run, so three windows are played: {spans}."
    else:
        said = f"{shown}." if len(frames.times) < len(run.t) else f"All {len(run.t):,} nodes."
    hint = "Drag to turn, Shift-drag or two fingers to move; click, then wheel, or pinch to zoom; double click to return; space plays."
    return f"{said} {hint}" if runs == 1 else f"{said} The runs are laid over each other; the legend hides and shows them. {hint}"
