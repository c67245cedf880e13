"""Which two shapes touch, and their material: see model/touching.py and model/materials.py."""

from dalembert.kernels._jit import inline


@inline
def find(keys, key):
    """Place of a key in a sorted array, or -1."""
    low, high = 0, keys.shape[0]
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < keys.shape[0] and keys[low] == key else -1


@inline
def parts_key(filters, i, j):
    """Key of the two parts that shapes belong to."""
    a, b = filters.part[i], filters.part[j]
    return a * filters.parts + b if a < b else b * filters.parts + a


@inline
def touch(shapes, filters, i, j):
    """Can shapes i < j touch?"""
    if shapes.owner[i] == shapes.owner[j]:
        return False
    meet = (filters.types[i] & filters.affinities[j]) | (filters.types[j] & filters.affinities[i])
    if meet != 0 and (filters.apart.shape[0] == 0 or find(filters.apart, parts_key(filters, i, j)) < 0):
        return True
    return filters.named.shape[0] > 0 and find(filters.named, i * shapes.owner.shape[0] + j) >= 0


@inline
def material(filters, i, j):
    """That of the pair if it has one; else by the larger of each number of the two shapes, or by all of the shape of higher priority."""
    if filters.special.shape[0] > 0:
        at = find(filters.special, i * filters.part.shape[0] + j)
        if at >= 0:
            return filters.material[at]
    if filters.priority[i] != filters.priority[j]:
        k = i if filters.priority[i] > filters.priority[j] else j
        i, j = k, k
    at = 0
    for c in range(filters.counts.shape[0]):
        at = at * filters.counts[c] + max(filters.ranks[i, c], filters.ranks[j, c])
    return at
