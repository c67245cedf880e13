"""Order of elimination of bodies by minimum degree, and the rows of U that follow: graph in, structure out, in one pass.

The quotient graph of Amestoy, Davis and Duff (1996): an eliminated body p is an element whose list is struct(p), the columns of row p of
U. For a body i that is left, neighbours are those of the given graph that no element covers, and the members of its elements. With
w_e = |struct(e) \\ struct(p)|, the degree of a neighbour of p is bounded by

    d_i = min(d_i + |struct(p) \\ i|,  |A_i| + |struct(p) \\ i| + sum_e w_e,  bodies left)

Elements met by p are absorbed into it, so lists of living elements hold living bodies alone, and the lists of i (elements first, bodies
behind) never grow beyond their place in the given graph.
"""

from dalembert.kernels._jit import inline, kernel

FULL = -1


@inline
def _enter(i, d, head, after, before):
    """Put i into the list of degree d."""
    j = head[d]
    after[i], before[i], head[d] = j, -1, i
    if j >= 0:
        before[j] = i


@inline
def _leave(i, d, head, after, before):
    """Take i out of the list of degree d."""
    j, k = after[i], before[i]
    if j >= 0:
        before[j] = k
    if k >= 0:
        after[k] = j
    else:
        head[d] = j


@inline
def _gather(p, first, adjacency, elements, length, start, struct, alive, absorbed, mark, stamp, fill):
    """struct(p): union of its bodies and of the members of its elements, which it absorbs. Returns its end, FULL without room."""
    for t in range(first[p], first[p] + elements[p]):
        e = adjacency[t]
        for k in range(start[e], start[e + 1]):
            i = struct[k]
            if i != p and mark[i] != stamp:
                mark[i] = stamp
                if fill == struct.shape[0]:
                    return FULL
                struct[fill] = i
                fill += 1
        absorbed[e] = 1
    for t in range(first[p] + elements[p], first[p] + length[p]):
        i = adjacency[t]
        if alive[i] == 1 and mark[i] != stamp:
            mark[i] = stamp
            if fill == struct.shape[0]:
                return FULL
            struct[fill] = i
            fill += 1
    return fill


@inline
def _prune(i, k, first, adjacency, elements, length, absorbed, alive, mark, stamp, over, extra):
    """New lists of i: elements that live, the new element k, bodies that nothing covers. Returns |A_i| + sum of w_e. extra: workspace."""
    degree, kept, others = 0, 0, 0
    for t in range(first[i], first[i] + elements[i]):
        e = adjacency[t]
        if absorbed[e] == 0:
            adjacency[first[i] + kept] = e
            kept += 1
            degree += over[e]
    for t in range(first[i] + elements[i], first[i] + length[i]):
        j = adjacency[t]
        if alive[j] == 1 and mark[j] != stamp:
            extra[others] = j
            others += 1
    adjacency[first[i] + kept] = k
    kept += 1
    for t in range(others):
        adjacency[first[i] + kept + t] = extra[t]
    elements[i], length[i] = kept, kept + others
    return degree + others


@kernel
def minimum_degree(n, first, adjacency, order, start, struct, work):
    """order[k]: vertex at place k; struct[start[k] : start[k + 1]]: vertices of row k of U, not sorted. Returns their number or FULL.

    first (n + 1), adjacency: the graph without the diagonal, both directions, no entry twice; used up. work: (12, n + 1) whole numbers.
    """
    elements, length, degree, head, after, before = work[0], work[1], work[2], work[3], work[4], work[5]
    alive, absorbed, mark, over, over_stamp, extra = work[6], work[7], work[8], work[9], work[10], work[11]
    for i in range(n):
        elements[i], length[i] = 0, first[i + 1] - first[i]
        alive[i], absorbed[i], mark[i], over_stamp[i], head[i] = 1, 0, -1, -1, -1
    for r in range(n):
        i = n - 1 - r
        degree[i] = length[i]
        _enter(i, degree[i], head, after, before)
    fill, low = 0, 0
    start[0] = 0
    for k in range(n):
        while head[low] < 0:
            low += 1
        p = head[low]
        _leave(p, low, head, after, before)
        order[k] = p
        alive[p] = 0
        fill = _gather(p, first, adjacency, elements, length, start, struct, alive, absorbed, mark, k, fill)
        if fill == FULL:
            return FULL
        start[k + 1] = fill
        size = fill - start[k]
        for t in range(start[k], fill):
            i = struct[t]
            for q in range(first[i], first[i] + elements[i]):
                e = adjacency[q]
                if absorbed[e] == 0:
                    if over_stamp[e] != k:
                        over_stamp[e], over[e] = k, start[e + 1] - start[e]
                    over[e] -= 1
        for t in range(start[k], fill):
            i = struct[t]
            _leave(i, degree[i], head, after, before)
            bound = _prune(i, k, first, adjacency, elements, length, absorbed, alive, mark, k, over, extra)
            d = min(n - k - 2, min(degree[i], bound) + size - 1)
            degree[i] = max(d, 0)
            _enter(i, degree[i], head, after, before)
            low = min(low, degree[i])
    return fill
