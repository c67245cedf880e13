"""A trial step from the node: `go(s)` moves room.trial to where the machine is s later, by the same step whatever s is.

plain        the base step, or a composition of such steps, which raises its order
resting      contacts that rest are kept closed by impulses at the node: 0 <= lambda perp g_c(q_k+1) >= 0, solved by
             0 <= lambda + d perp g_c + s A d >= 0 again and again (A at the node); a contact whose lambda ends at 0 is let go.
             At the second node momentum loses what opens or closes them. Lacoursiere (3.112); RATTLE, while lambda > 0
reflecting   after an impact with the energy condition: p = p- + f G_c^T Lambda with f such that the discrete energy of the interval is
             that of the interval before, less what restitution takes. f = 1 is the reflection at the node. The other root, f near 0, goes
             through the wall; where none is near 1 (grazing), f = 1 is taken. Leyendecker et al. (13c), (15), with a guard
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.collision.complementarity import complementarity
from dalembert.kernels.collision.energy import interval_energy
from dalembert.kernels.collision.gaps import gap_of, pair_gap, put3, put_solids, row3, wall_gap
from dalembert.kernels.collision.impact import node_velocity, put_matrix, put_row
from dalembert.kernels.collision.tables import ENERGY, FACTOR
from dalembert.kernels.loop import call_ledger, call_step
from dalembert.kernels.smallmat import axpy, dot, sub
from dalembert.kernels.status import NOT_CONVERGED, OK
from dalembert.kernels.tree.variational.layout import notes, places

ROUNDS = 60
NARROW = 0.5  # a factor of the reflection further from 1 than this is the other root


@inline
def _reset(room):
    for i in range(room.node.shape[0]):
        room.trial[i] = room.node[i]


@kernel
def travel(step, t, s, system, work, info, room):
    """One step of room.trial, or the substeps of a composition, each entered into the account."""
    if room.weights.shape[0] == 1:
        return call_step(step, t, s, system, room.trial, work, info)
    for k in range(room.weights.shape[0]):
        part = room.weights[k] * s
        call_ledger(room.address[0], t, part, 0, system, room.trial, work, info)
        status = call_step(step, t, part, system, room.trial, work, info)
        t += part
        if status != OK:
            return status
        call_ledger(room.address[0], t, part, 1, system, room.trial, work, info)
    return OK


@kernel
def reflecting(step, t, s, system, work, info, room):
    """f by the secant method on E_d(f) - goal."""
    n, nv = notes(system), room.jump.shape[0]
    f, last, e_last, status = 1.0, 0.0, 0.0, OK
    for k in range(ROUNDS):
        _reset(room)
        for i in range(nv):
            room.trial[n.p + i] += f * room.jump[i]
        status = call_step(step, t, s, system, room.trial, work, info)
        if status != OK:
            break
        e = interval_energy(s, system, work) - room.goal[ENERGY]
        size = abs(room.goal[ENERGY]) + abs(e)
        if abs(e) <= 4e-16 * size or (k > 0 and (f == last or (e == e_last and abs(e) <= 1e-12 * size))):
            room.goal[FACTOR] = f
            return status
        new = f * (1.0 + 1e-4) if k == 0 else f - e * (f - last) / (e - e_last if e != e_last else 1e-300)
        if not abs(new - 1.0) < NARROW:
            break
        last, e_last = f, e
        if abs(new - f) <= 1e-15:
            room.goal[FACTOR] = f
            return status
        f = new
    room.goal[FACTOR] = 1.0
    _reset(room)
    for i in range(nv):
        room.trial[n.p + i] += room.jump[i]
    return call_step(step, t, s, system, room.trial, work, info)


@kernel
def _held_rows(system, work, scene, room, touching):
    """List the resting contacts where solids are, with rows; room.who[c] is that of the c-th that rests. Returns their number."""
    count = 0
    for c in range(touching):
        if room.held[c] != 1:
            continue
        a, b, k = room.touch[c, 0], room.touch[c, 1], room.touch[c, 2]
        room.who[count, 0], room.who[count, 1], room.who[count, 2] = a, b, k
        if b < 0:
            normal = row3(scene.normal, -1 - b)
            room.gap[count] = wall_gap(scene, room, a, -1 - b, k)
            put3(room.normal, count, normal)
            put3(room.point, count, axpy(-scene.radius[a], normal, row3(room.points, scene.first[a] + k)))
        else:
            gap, normal, x = pair_gap(scene, room, a, b)
            room.gap[count] = gap
            put3(room.normal, count, normal)
            put3(room.point, count, x)
        put_row(system, work, scene, room, count, room.rows)
        count += 1
    return count


@kernel
def prepare_rest(system, work, scene, room, touching):
    """Rows and matrix of the resting contacts at the node. Returns their number; -2: M is singular."""
    put_solids(system, room.node, work, scene, room)
    count = _held_rows(system, work, scene, room, touching)
    if count > 0:
        if not node_velocity(system, room.node, work) or not put_matrix(system, room.node, work, room, count):
            return -2
        for c in range(count):
            for i in range(room.jump.shape[0]):
                room.hold_rows[c, i] = room.rows[c, i]
            room.lam[c] = 0.0
            put3(room.hold_point, c, row3(room.point, c))
            put3(room.hold_normal, c, row3(room.normal, c))
    return count


@kernel
def resting(step, t, s, system, work, info, scene, room, touching, count, tol):
    """A step with contacts that rest; prepare_rest has been called. room.lam: their impulses."""
    n, nv, status = notes(system), room.jump.shape[0], OK
    for c in range(count):
        for d in range(count):
            room.matrix[c, d] *= s
    worst = 0.0
    for _ in range(ROUNDS):
        _reset(room)
        for c in range(count):
            for i in range(nv):
                room.trial[n.p + i] += room.lam[c] * room.hold_rows[c, i]
        status = travel(step, t, s, system, work, info, room)
        if status != OK:
            break
        put_solids(system, room.trial, work, scene, room)
        worst, c = 0.0, 0
        for k in range(touching):
            if room.held[k] == 1:
                gap = gap_of(scene, room, room.touch[k, 0], room.touch[k, 1], room.touch[k, 2])
                worst = max(worst, abs(gap) if room.lam[c] > 0.0 else -gap)
                room.extra[c] = gap
                c += 1
        if worst <= tol:
            break
        for c in range(count):  # A (lam + d) + (g - A lam)
            for d in range(count):
                room.extra[c] -= room.matrix[c, d] * room.lam[d]
        complementarity(room.matrix, room.extra, room.lam, 0.0, count, room.factor, room.free)
    for c in range(count):
        for d in range(count):
            room.matrix[c, d] /= s
    return status if worst <= 100.0 * tol or status != OK else NOT_CONVERGED


@kernel
def jumps(scene, room, touching, way):
    """True where the point of a contact that is held has gone further than `way` since the node, as where leaning bodies become parallel:
    it is another contact then. Solids are where the trial ended."""
    c = 0
    for k in range(touching):
        if room.held[k] != 1:
            continue
        if room.touch[k, 1] >= 0:
            _, _, x = pair_gap(scene, room, room.touch[k, 0], room.touch[k, 1])
            moved = sub(x, row3(room.hold_point, c))
            if dot(moved, moved) > way * way:
                return True
        c += 1
    return False


@kernel
def settle(system, work, scene, room, touching, count):
    """Take off the momentum of room.trial what opens or closes contacts that were held over the step; room.push: by which impulses."""
    n, nv = notes(system), room.jump.shape[0]
    put_solids(system, room.trial, work, scene, room)
    found = _held_rows(system, work, scene, room, touching)
    if found == 0 or not node_velocity(system, room.trial, work):
        return False
    dv = places(system).dv
    for c in range(count):
        room.speed[c], room.push[c] = 0.0, 0.0
        if room.lam[c] > 0.0:
            for i in range(nv):
                room.speed[c] += room.rows[c, i] * work[dv + i]
    if not put_matrix(system, room.trial, work, room, count):
        return False
    for c in range(count):
        if room.lam[c] <= 0.0:
            for d in range(count):
                room.matrix[c, d], room.matrix[d, c] = 0.0, 0.0
    complementarity(room.matrix, room.speed, room.push, -1e300, count, room.factor, room.free)
    for c in range(count):
        for i in range(nv):
            room.trial[n.p + i] += room.push[c] * room.rows[c, i]
    return True
