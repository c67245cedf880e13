"""crc32 of two stretches of bytes behind each other, from the crc32 of each: what was summed once need not be read again.

    crc(AB) = crc(A) x^(8 |B|) + crc(B)      polynomials over {0, 1} modulo x^32 + x^26 + x^23 + ... + 1, the coefficient of x^0 in bit 31

The factor is found by squaring, x^(2^k), as in zlib's crc32_combine, which Python does not offer.
"""

from __future__ import annotations

import functools

_MODULUS = 0xEDB88320
_ONE, _X = 1 << 31, 1 << 30


def joined(first: int, second: int, length: int) -> int:
    """crc32 of two stretches, the second of that many bytes."""
    return _product(_power(8 * length), first) ^ second


@functools.lru_cache(maxsize=64)
def _power(n: int) -> int:
    """x^n"""
    out, square = _ONE, _X
    while n:
        if n & 1:
            out = _product(square, out)
        square, n = _product(square, square), n >> 1
    return out


def _product(a: int, b: int) -> int:
    """a b, the coefficients of a from x^0 on."""
    out = 0
    while a:
        if a & _ONE:
            out ^= b
        a = (a << 1) & 0xFFFFFFFF
        b = (b >> 1) ^ (_MODULUS if b & 1 else 0)
    return out
