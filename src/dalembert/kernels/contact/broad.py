"""Pairs of shapes that may be near each other: bounding boxes, sorted along one axis and swept.

The order of the last call is nearly right, so insertion sort takes O(n) then; where it does not get through in 16 n moves (first call,
another axis, everything flies about) heap sort takes over. The axis is the one along which the boxes are spread most; it changes only when
another is better by half, since each change costs a sort. Found pairs are put in the order of (first, second) shape, so the result does not
depend on the order in which they were found, nor on the past.

Two shapes that are not awake, of the world or of bodies that sleep, are no pair, and are placed once. Where few are awake, each of these is
compared with all.
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.contact.filters import touch
from dalembert.kernels.contact.tables import LARGE_HULL, PAIRS, PLANE, SORT_AXIS, SPHERE
from dalembert.kernels.quat import mul, normalise, rotate

MOVES = 16  # per shape, before heap sort takes over
BETTER = 1.5  # by which another axis must be, in variance
FEW = 16  # shapes awake: less than a sweep of 1,000 shapes (65 us)


@inline
def _write_matrix(q, R, i):
    w, x, y, z = q
    R[i, 0, 0], R[i, 0, 1], R[i, 0, 2] = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)
    R[i, 1, 0], R[i, 1, 1], R[i, 1, 2] = 2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)
    R[i, 2, 0], R[i, 2, 1], R[i, 2, 2] = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)


@kernel
def place(shapes, x, q, reach, margin, work):
    """World poses of all shapes, and bounding boxes grown by half the margin and the reach of the owner. Returns False if not finite."""
    c, R, total = work.c, work.R, 0.0
    for i in range(shapes.owner.shape[0]):
        if work.placed[i] == 1:
            continue
        work.placed[i] = 1 - work.awake[i]
        b = shapes.owner[i]
        p = (shapes.position[i, 0], shapes.position[i, 1], shapes.position[i, 2])
        turn = (shapes.quaternion[i, 0], shapes.quaternion[i, 1], shapes.quaternion[i, 2], shapes.quaternion[i, 3])
        grow = 0.5 * margin * shapes.scale[i]
        if b >= 0:
            q_b = normalise((q[b, 0], q[b, 1], q[b, 2], q[b, 3]))
            p = rotate(q_b, p)
            p = (p[0] + x[b, 0], p[1] + x[b, 1], p[2] + x[b, 2])
            turn = mul(q_b, turn)
            grow += reach[b]
        _write_matrix(turn, R, i)
        m = (shapes.centre[i, 0], shapes.centre[i, 1], shapes.centre[i, 2])
        for k in range(3):
            c[i, k] = p[k]
            middle = p[k] + R[i, k, 0] * m[0] + R[i, k, 1] * m[1] + R[i, k, 2] * m[2]
            h = shapes.half[i, 0]
            if shapes.kind[i] != SPHERE:
                h = abs(R[i, k, 0]) * h + abs(R[i, k, 1]) * shapes.half[i, 1] + abs(R[i, k, 2]) * shapes.half[i, 2]
            work.low[i, k], work.high[i, k] = middle - h - grow, middle + h + grow
            total += middle
    return total - total == 0.0


@inline
def _insertion(order, low, axis, moves):
    """Sort by the lower ends. False if that takes more moves."""
    for a in range(1, order.shape[0]):
        i, k = order[a], a
        x = low[i, axis]
        while k > 0 and low[order[k - 1], axis] > x:
            order[k] = order[k - 1]
            k -= 1
            moves -= 1
        order[k] = i
        if moves < 0:
            return False
    return True


@inline
def _sift(order, low, axis, start, end):
    root, i = start, order[start]
    while 2 * root + 1 < end:
        child = 2 * root + 1
        if child + 1 < end and low[order[child], axis] < low[order[child + 1], axis]:
            child += 1
        if low[i, axis] >= low[order[child], axis]:
            break
        order[root] = order[child]
        root = child
    order[root] = i


@kernel
def sort_by_low(order, low, axis):
    """Order of the lower ends along an axis, from the order that is given."""
    n = order.shape[0]
    if _insertion(order, low, axis, MOVES * n):
        return
    for k in range(n // 2 - 1, -1, -1):
        _sift(order, low, axis, k, n)
    for end in range(n - 1, 0, -1):
        order[0], order[end] = order[end], order[0]
        _sift(order, low, axis, 0, end)


@kernel
def spread_axis(order, low, current):
    """Axis of the largest variance of the lower ends; the current one unless another is better by half."""
    n = max(order.shape[0], 1)
    best, most, mine = current, 0.0, 0.0
    for k in range(3):
        mean = square = 0.0
        for a in range(order.shape[0]):
            mean += low[order[a], k]
        mean /= n
        for a in range(order.shape[0]):
            square += (low[order[a], k] - mean) * (low[order[a], k] - mean)
        if k == current:
            mine = square
        if square > most:
            best, most = k, square
    return best if most > BETTER * mine else current


@inline
def _push(work, i, j):
    """A candidate, smaller shape first; beyond the room it is only counted."""
    count = work.counts[PAIRS]
    if count < work.pairs.shape[0]:
        work.pairs[count, 0], work.pairs[count, 1] = min(i, j), max(i, j)
    work.counts[PAIRS] = count + 1


@inline
def _meet(low, high, i, j):
    for k in range(3):
        if low[i, k] > high[j, k] or low[j, k] > high[i, k]:
            return False
    return True


@inline
def _one_by_one(shapes, filters, work):
    """Candidates of FEW shapes that are awake; False where there are more."""
    awake = 0
    for a in range(work.order.shape[0]):
        awake += work.awake[work.order[a]]
    if awake > FEW:
        return False
    for a in range(work.order.shape[0]):
        i = work.order[a]
        if work.awake[i] == 0:
            continue
        for b in range(work.order.shape[0]):
            j = work.order[b]
            twice = b == a or (work.awake[j] > 0 and b < a)
            if not twice and _meet(work.low, work.high, i, j) and touch(shapes, filters, min(i, j), max(i, j)):
                _push(work, i, j)
    return True


@kernel
def sweep(shapes, filters, work):
    """Candidates among the shapes that are swept."""
    if _one_by_one(shapes, filters, work):
        return
    axis = spread_axis(work.order, work.low, work.counts[SORT_AXIS])
    work.counts[SORT_AXIS] = axis
    order, sorted_boxes = work.order, work.sorted_boxes
    sort_by_low(order, work.low, axis)
    y, z = (axis + 1) % 3, (axis + 2) % 3
    for a in range(order.shape[0]):  # one behind the other: a sixth less time for 1,000 spheres
        i, box = order[a], sorted_boxes[a]
        box[0], box[1], box[2] = work.low[i, axis], work.low[i, y], work.high[i, y]
        box[3], box[4] = work.low[i, z], work.high[i, z]
    for a in range(order.shape[0]):
        i, box = order[a], sorted_boxes[a]
        end, y0, y1, z0, z1 = work.high[i, axis], box[1], box[2], box[3], box[4]
        for b in range(a + 1, order.shape[0]):
            if sorted_boxes[b, 0] > end:
                break
            if sorted_boxes[b, 1] > y1 or sorted_boxes[b, 2] < y0 or sorted_boxes[b, 3] > z1 or sorted_boxes[b, 4] < z0:
                continue
            j = order[b]
            if work.awake[i] + work.awake[j] > 0 and touch(shapes, filters, min(i, j), max(i, j)):
                _push(work, i, j)


@kernel
def over_planes(shapes, filters, margin, work):
    """Candidates of planes with spheres, boxes and hulls: some of the grown bounding box is below the plane grown by half the margin."""
    n_shapes = shapes.owner.shape[0]
    for p in range(n_shapes):
        if shapes.kind[p] != PLANE:
            continue
        n = (work.R[p, 0, 2], work.R[p, 1, 2], work.R[p, 2, 2])
        for i in range(n_shapes):
            if SPHERE <= shapes.kind[i] <= LARGE_HULL and work.awake[i] > 0:
                height = 0.0
                for k in range(3):
                    height += n[k] * ((work.low[i, k] if n[k] > 0.0 else work.high[i, k]) - work.c[p, k])
                if height < 0.5 * margin and touch(shapes, filters, min(p, i), max(p, i)):
                    _push(work, p, i)


@kernel
def by_rows(work, n_shapes):
    """Sort the candidates: start (n + 1) and second, ascending in each row. There must be room for all of them."""
    start, second, pairs, count = work.start, work.second, work.pairs, work.counts[PAIRS]
    for i in range(n_shapes + 1):
        start[i] = 0
    for k in range(count):
        start[pairs[k, 0] + 1] += 1
    for i in range(n_shapes):
        start[i + 1] += start[i]
    for k in range(count):
        i = pairs[k, 0]
        second[start[i]] = pairs[k, 1]
        start[i] += 1
    for i in range(n_shapes, 0, -1):
        start[i] = start[i - 1]
    start[0] = 0
    for i in range(n_shapes):
        for a in range(start[i] + 1, start[i + 1]):
            j, b = second[a], a
            while b > start[i] and second[b - 1] > j:
                second[b] = second[b - 1]
                b -= 1
            second[b] = j
