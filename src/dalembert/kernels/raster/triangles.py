"""Flat triangles painted into an image, the nearer before the farther (z-buffer).

A pixel (j, i) lies in the triangle a, b, c if its weights u, w of b and c satisfy u >= 0, w >= 0, u + w <= 1, where

    (j, i) = a + u (b - a) + w (c - a);       its depth is  z = z_a + u (z_b - z_a) + w (z_c - z_a).

A row of pixels meets each of the three conditions in an interval: the span is where these overlap. Larger z is nearer to the eye.
"""

import numpy as np

from dalembert.kernels._jit import inline, kernel


@inline
def _narrow(value, slope, low, high):
    """The part of [low, high] where value + slope j >= 0."""
    if slope > 0.0:
        return max(low, -value / slope), high
    if slope < 0.0:
        return low, min(high, -value / slope)
    return (low, high) if value >= 0.0 else (1.0, 0.0)


@inline
def _cover(near, pixels, z, dz, begin, end, red, green, blue):
    """A span of a row in a colour that hides what is behind; depth z + dz j."""
    for j in range(begin, end + 1):
        here = z + dz * j
        if here >= near[j]:
            near[j] = here
            pixels[j, 0], pixels[j, 1], pixels[j, 2] = red, green, blue


@inline
def _mix(near, pixels, z, dz, begin, end, colour, hidden):
    """A span of a row in a colour of which a part shows."""
    for j in range(begin, end + 1):
        here, shows = z + dz * j, colour[3]
        if here < near[j]:
            shows *= hidden
        elif shows == 1.0:
            near[j] = here
        for n in range(3):
            pixels[j, n] = int(pixels[j, n] + shows * (colour[n] - pixels[j, n]) + 0.5)


@kernel
def paint(triangles, colours, hidden, depth, image, touched):
    """triangles (n, 3, 3): x, y in pixels, z; colours (n, 4): red, green, blue from 0 to 255, and how much of them shows, from 0 to 1.

    depth (height, width) and image (height, width, 3) are changed. hidden: by how much less a colour shows where something nearer was
    painted before. Only what shows fully hides what comes later. touched: first and last row, first and last column that were painted on,
    widened. Triangles that are not finite paint nothing.
    """
    height, width = depth.shape
    for k in range(len(triangles)):
        a, b, c = triangles[k, 0], triangles[k, 1], triangles[k, 2]
        bx, by, cx, cy = b[0] - a[0], b[1] - a[1], c[0] - a[0], c[1] - a[1]
        area = bx * cy - cx * by
        low, high = min(a[1], min(b[1], c[1])), max(a[1], max(b[1], c[1]))
        if not (abs(area) > 1e-12 and abs(area) < 1e30 and high >= 0.0 and low <= height - 1.0):
            continue
        first, last = int(max(low, -1.0) + 1.0), int(min(high, height - 1.0))
        if low <= 0.0:
            first = 0
        du, dw = cy / area, -by / area  # of u and w along a row
        dz = du * (b[2] - a[2]) + dw * (c[2] - a[2])
        red, green, blue, most = np.uint8(colours[k, 0]), np.uint8(colours[k, 1]), np.uint8(colours[k, 2]), colours[k, 3]
        for i in range(first, last + 1):
            u = (-cx * (i - a[1]) - cy * a[0]) / area  # at j = 0
            w = (bx * (i - a[1]) + by * a[0]) / area
            left, right = _narrow(u, du, 0.0, width - 1.0)
            left, right = _narrow(w, dw, left, right)
            left, right = _narrow(1.0 - u - w, -du - dw, left, right)
            if not left <= right:
                continue
            begin, end = int(left), int(right)
            if begin < left:
                begin += 1
            if begin > end:
                continue
            touched[0], touched[1] = min(touched[0], i), max(touched[1], i)
            touched[2], touched[3] = min(touched[2], begin), max(touched[3], end)
            z = a[2] + u * (b[2] - a[2]) + w * (c[2] - a[2])
            if most == 1.0 and hidden == 0.0:
                _cover(depth[i], image[i], z, dz, begin, end, red, green, blue)
            else:
                _mix(depth[i], image[i], z, dz, begin, end, colours[k], hidden)


@kernel
def shrink(image, small, top, bottom, left, right):
    """small (height, width, 3): means of two by two pixels of image, in rows top to bottom - 1 and columns left to right - 1 of small."""
    for i in range(top, bottom):
        above, below, out = image[2 * i], image[2 * i + 1], small[i]
        for j in range(left, right):
            for n in range(3):
                out[j, n] = (int(above[2 * j, n]) + int(above[2 * j + 1, n]) + int(below[2 * j, n]) + int(below[2 * j + 1, n]) + 2) // 4
