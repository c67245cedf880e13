"""Analysis of the graph of bodies: which blocks H = M + J^T W J has, in which order bodies are eliminated, which blocks U has.

The order of least degree is rewritten as a postorder of its elimination tree, in which the parent of row k is its first column: the fill is
the same, and what a row needs of those above it lies right before it, in cache.
It is kept from step to step while the pairs are the same, in the same order: see `find_slots`.
"""

from dalembert.kernels._jit import inline, kernel
from dalembert.kernels.contact.order import FULL, minimum_degree
from dalembert.kernels.status import OK

NO_ROOM = 1
#: signatures are whole numbers below this, which float64 holds
BITS = (1 << 50) - 1


@inline
def _mixed(mark, a, b):
    """The next signature of a list of pairs."""
    mark = ((mark ^ (a + 2) * 69069) * 8191) & BITS  # below 2^63
    mark = ((mark ^ (b + 2) * 69069) * 8111) & BITS
    return mark ^ (mark >> 23)


@kernel
def signature(bodies):
    """A number for the pairs of bodies in their order, repetitions in a row left out: the order of elimination is a function of these."""
    mark = 0
    for c in range(bodies.shape[0]):
        if c == 0 or bodies[c, 0] != bodies[c - 1, 0] or bodies[c, 1] != bodies[c - 1, 1]:
            mark = _mixed(mark, bodies[c, 0], bodies[c, 1])
    return mark


@kernel
def graph(bodies, place, body, first, adjacency, seen):
    """Neighbours of each constrained body, by numbers of constrained bodies in `body`; each once. Returns their number.

    adjacency: room for twice the number of constraints; seen: (n,).
    """
    n, m, count = place.shape[0], bodies.shape[0], 0
    for i in range(n):
        place[i] = -1
    for c in range(m):
        for side in range(2):
            i = bodies[c, side]
            if i >= 0 and place[i] < 0:
                place[i] = count
                body[count] = i
                count += 1
    for k in range(count + 1):
        first[k] = 0
    for c in range(m):
        if bodies[c, 0] >= 0 and bodies[c, 1] >= 0:
            first[place[bodies[c, 0]] + 1] += 1
            first[place[bodies[c, 1]] + 1] += 1
    for k in range(count):
        first[k + 1] += first[k]
        seen[k] = first[k]
    for c in range(m):
        if bodies[c, 0] >= 0 and bodies[c, 1] >= 0:
            a, b = place[bodies[c, 0]], place[bodies[c, 1]]
            adjacency[seen[a]] = b
            adjacency[seen[b]] = a
            seen[a] += 1
            seen[b] += 1
    _once(count, first, adjacency, seen)
    return count


@kernel
def _once(count, first, adjacency, seen):
    """Drop what is listed twice."""
    for k in range(count):
        seen[k] = -1
    to = 0
    for k in range(count):
        begin, end = first[k], first[k + 1]
        first[k] = to
        for t in range(begin, end):
            j = adjacency[t]
            if seen[j] != k:
                seen[j] = k
                adjacency[to] = j
                to += 1
    first[count] = to


@kernel
def analyse(bodies, pattern, first, adjacency, order, work):
    """Fill a pattern. OK, or NO_ROOM where `column` and its companions are too short.

    first (n + 1), adjacency (2 m), order (n), work (13, n + 1): working space.
    """
    p = pattern
    count = graph(bodies, p.place, p.body, first, adjacency, work[12])
    blocks = minimum_degree(count, first, adjacency, order, p.start, p.column, work)
    if blocks == FULL:
        return NO_ROOM
    for k in range(count):
        work[0, order[k]] = k
    for t in range(blocks):
        p.column[t] = work[0, p.column[t]]
    _postorder(count, p.start, p.column, work[1], work[2], work[3], work[4])
    _move_rows(count, work[4], p.start, p.column, p.above, p.above_row)
    for k in range(count):
        work[0, work[4, k]] = p.body[order[k]]
    for k in range(count):
        p.body[k] = work[0, k]
        p.place[p.body[k]] = k
    _transpose(count, p.start, p.column, p.above, p.above_block, p.above_row, work[2])
    # reading columns in order and writing into rows leaves every row sorted
    for k in range(count):
        work[2, k] = p.start[k]
    for j in range(count):
        for t in range(p.above[j], p.above[j + 1]):
            k = p.above_row[t]
            p.column[work[2, k]] = j
            p.above_block[t] = work[2, k]
            work[2, k] += 1
    p.size[0], p.size[1], p.size[2] = count, blocks, signature(bodies)
    return OK


@kernel
def _postorder(count, start, column, parent, child, sibling, place):
    """place[k]: of row k in a postorder of the elimination tree, children in their order. All (count + 1): the last stands above roots."""
    for k in range(count + 1):
        child[k] = -1
    for s in range(count):
        k = count - 1 - s
        least = count
        for t in range(start[k], start[k + 1]):
            least = min(least, column[t])
        parent[k], sibling[k], child[least] = least, child[least], k
    k, reached = child[count], 0
    while k >= 0:
        while child[k] >= 0:
            k = child[k]
        place[k] = reached
        reached += 1
        while sibling[k] < 0 and parent[k] != count:
            k = parent[k]
            place[k] = reached
            reached += 1
        k = sibling[k]


@kernel
def _move_rows(count, place, start, column, to, spare):
    """Row k becomes row place[k], its columns likewise. to (count + 1), spare (blocks): working space."""
    to[0] = 0
    for k in range(count):
        to[place[k] + 1] = start[k + 1] - start[k]
    for k in range(count):
        to[k + 1] += to[k]
    for k in range(count):
        shift = to[place[k]] - start[k]
        for t in range(start[k], start[k + 1]):
            spare[t + shift] = place[column[t]]
    for k in range(count + 1):
        start[k] = to[k]
    for t in range(start[count]):
        column[t] = spare[t]


@kernel
def _transpose(count, start, column, above, above_block, above_row, fill):
    """For each column j the blocks of rows k < j, rows ascending."""
    for j in range(count + 1):
        above[j] = 0
    for t in range(start[count]):
        above[column[t] + 1] += 1
    for j in range(count):
        above[j + 1] += above[j]
        fill[j] = above[j]
    for k in range(count):
        for t in range(start[k], start[k + 1]):
            j = column[t]
            above_block[fill[j]] = t
            above_row[fill[j]] = k
            fill[j] += 1


@kernel
def find_slots(bodies, pattern, slot):
    """The block of each constraint, -1 for those of one body. Returns the signature of the pairs, -1 where one has no block."""
    p = pattern
    for c in range(bodies.shape[0]):
        a, b = bodies[c, 0], bodies[c, 1]
        slot[c] = -1
        if (a >= 0 and p.place[a] < 0) or (b >= 0 and p.place[b] < 0):
            return -1
        if a < 0 or b < 0:
            continue
        if c > 0 and a == bodies[c - 1, 0] and b == bodies[c - 1, 1]:
            slot[c] = slot[c - 1]
            continue
        i, j = min(p.place[a], p.place[b]), max(p.place[a], p.place[b])
        low, high = p.start[i], p.start[i + 1]
        while low < high:
            middle = (low + high) // 2
            if p.column[middle] < j:
                low = middle + 1
            else:
                high = middle
        if low == p.start[i + 1] or p.column[low] != j:
            return -1
        slot[c] = low
    return signature(bodies)
