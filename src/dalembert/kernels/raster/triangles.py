"""Flat triangles painted into an image, the nearer before the farther (z-buffer).

A pixel (j, i) is painted if it lies in the triangle a, b, c, edges included. With a the highest and c the lowest corner (y grows
downwards), row i lies between the edge ac and, above b, ab, else bc; it meets an edge pq at

    x = p_x + (i - p_y) (q_x - p_x)/(q_y - p_y).

Depth is that of the plane of the triangle, z = z_a + (j - a_x) z_x + (i - a_y) z_y. Larger z is nearer to the eye.
A pixel is one number, red + 2^8 green + 2^16 blue + 2^24 255: a span of a row is painted several pixels at a time, without branches.
"""

import math

import numpy as np

from dalembert.kernels._jit import inline, kernel

EVEN = 0x00FF00FF  # red and blue of a pixel; green is between them, so that sums have room for carries


@inline
def _slope(p, q):
    """(q_x - p_x)/(q_y - p_y) of an edge that goes down; of level ones, which no row is cut at, any number."""
    return (q[0] - p[0]) / max(q[1] - p[1], 1e-9)


@inline
def _cover(near, pixels, z, dz, colour):
    """A span of a row in a colour that hides what is behind; depth z + dz j, in single precision."""
    for j in range(len(near)):
        here = z + dz * np.float32(np.int32(j))
        nearer = here >= near[j]
        near[j] = here if nearer else near[j]
        pixels[j] = colour if nearer else pixels[j]


@inline
def _mix(near, pixels, z, dz, colour, whole, part):
    """A span of a row in a colour of which whole/256 shows, or part/256 behind something nearer: (256 - s) pixel + s colour, over 256."""
    for j in range(len(near)):
        here, below, s = z + dz * j, int(pixels[j]), part
        if here >= near[j]:
            s = whole
            if whole == 256:
                near[j] = here
        even = (256 - s) * (below & EVEN) + s * (colour & EVEN) + 0x00800080
        odd = (256 - s) * (below >> 8 & EVEN) + s * (colour >> 8 & EVEN) + 0x00800080
        pixels[j] = (even >> 8 & EVEN) | (odd & EVEN << 8)


@kernel
def paint(triangles, colours, hidden, depth, image, touched):
    """triangles (n, 3, 3): x, y in pixels, z; colours (n, 4): red, green, blue from 0 to 255, and how much of them shows, from 0 to 1.

    depth (height, width), float32, and image (height, width), uint32, are changed. hidden: by how much less a colour shows where something
    nearer was painted before. Only what shows fully hides what comes later. touched (height, 2): first and last pixel of each row that was
    painted on, widened. Triangles that are not finite paint nothing.
    """
    height, width = depth.shape
    for k in range(len(triangles)):
        a, b, c = triangles[k, 0], triangles[k, 1], triangles[k, 2]
        if b[1] < a[1]:
            a, b = b, a
        if c[1] < b[1]:
            b, c = c, b
            if b[1] < a[1]:
                a, b = b, a
        if not (c[1] >= 0.0 and a[1] <= height - 1.0 and c[1] - a[1] < 1e15):
            continue
        bx, by, cx, cy = b[0] - a[0], b[1] - a[1], c[0] - a[0], c[1] - a[1]
        area = bx * cy - cx * by
        if not (abs(area) > 1e-12 and abs(area) < 1e30):
            continue
        zx = ((b[2] - a[2]) * cy - (c[2] - a[2]) * by) / area
        zy = ((c[2] - a[2]) * bx - (b[2] - a[2]) * cx) / area
        ab, bc, ac = _slope(a, b), _slope(b, c), _slope(a, c)
        colour = int(colours[k, 0]) | int(colours[k, 1]) << 8 | int(colours[k, 2]) << 16 | 255 << 24
        whole = int(256.0 * colours[k, 3] + 0.5)
        for i in range(math.ceil(max(a[1], 0.0)), math.floor(min(c[1], height - 1.0)) + 1):
            one = a[0] + (i - a[1]) * ac
            other = a[0] + (i - a[1]) * ab if i < b[1] else b[0] + (i - b[1]) * bc
            begin, end = math.ceil(max(min(one, other), 0.0)), math.floor(min(max(one, other), width - 1.0))
            if begin > end:
                continue
            touched[i, 0], touched[i, 1] = min(touched[i, 0], begin), max(touched[i, 1], end)
            z = a[2] + (begin - a[0]) * zx + (i - a[1]) * zy
            near, pixels = depth[i, begin : end + 1], image[i, begin : end + 1]
            if whole == 256 and hidden == 0.0:
                _cover(near, pixels, np.float32(z), np.float32(zx), np.uint32(colour))
            else:
                _mix(near, pixels, z, zx, colour, whole, int(hidden * whole + 0.5))


@kernel
def finish(image, ground, depth, under, touched, small):
    """Average where something was painted, then take it away: small (height, width), uint32, becomes the mean of two by two pixels.

    image, ground (2 height, width), uint64: two neighbours at a time; depth (2 height, 2 width) becomes under, and touched empty. Red and
    blue, then green, are summed with room for carries between them.
    """
    pairs, low, half = np.uint64(0x00FF00FF00FF00FF), np.uint64(EVEN), np.uint64(0x00020002)
    width = depth.shape[1]
    for i in range(len(small)):
        begin, end = min(touched[2 * i, 0], touched[2 * i + 1, 0]) // 2, max(touched[2 * i, 1], touched[2 * i + 1, 1]) // 2 + 1
        if begin >= end:
            continue
        above, below, out = image[2 * i, begin:end], image[2 * i + 1, begin:end], small[i, begin:end]
        for j in range(len(out)):
            a, b = above[j], below[j]
            even = (a & pairs) + (b & pairs)
            odd = (a >> np.uint64(8) & pairs) + (b >> np.uint64(8) & pairs)
            even = (even + (even >> np.uint64(32)) + half) >> np.uint64(2) & low
            odd = (odd + (odd >> np.uint64(32)) + half) >> np.uint64(2) & low
            out[j] = even | odd << np.uint64(8)
        for k in range(2 * i, 2 * i + 2):
            pixels, first, near = image[k, begin:end], ground[k, begin:end], depth[k, 2 * begin : 2 * end]
            for j in range(len(pixels)):
                pixels[j] = first[j]
            for j in range(len(near)):
                near[j] = under
            touched[k, 0], touched[k, 1] = width, -1
