"""Weights of symmetric compositions that have no closed form, and the fractal that has one.

Digits are those that solve the order conditions, found by Newton's method in 60-digit arithmetic from the printed values: the 15 digits
printed by Yoshida for solution D of order 8 are right to 2e-13 only (conditions to 3e-12), those of the others to all that are printed. The
test suite puts these digits into the conditions in exact fractions. Only the first half is given: a palindrome with sum 1 follows from it.
"""

from __future__ import annotations

from decimal import Decimal, localcontext

YOSHIDA6 = (  # solution A, 7 substeps
    "0.784513610477557263819497633866349876",
    "0.235573213359358133684793182978534602",
    "-1.17767998417887100694641568096431573",
)
KAHAN_LI6 = (  # s9odr6a, 9 substeps
    "0.392161444007314139279250557422671404",
    "0.332599136789359438599748637500049647",
    "-0.706246172557639359809964819549256459",
    "0.0822135962935508002314904481020563311",
)
YOSHIDA8 = (  # solution D, 15 substeps
    "0.914844246229791566748793489847509605",
    "0.253693336566211354146146020689942076",
    "-1.44485223686060515769473065753739035",
    "-0.158240635368050175204066776759754248",
    "1.93813913762252598657918648744364176",
    "-1.96061023297531080760763337639966364",
    "0.102799849391796440698115131601225863",
)
SUZUKI_UMENO8 = (  # 15 substeps; also s15odr8 of Kahan and Li
    "0.741670364350612953448227801783806316",
    "-0.409100825800031593997300095893563417",
    "0.190754710296238379953876256450371663",
    "-0.573862471116082266656387726635535742",
    "0.299064181303655923844463540688602988",
    "0.334624918245298183784957979882182289",
    "0.315293092396766596632056663811002431",
)
KAHAN_LI8 = (  # s17odr8a, 17 substeps
    "0.130202483088890080878817632096700522",
    "0.561162981775108384561964407700150567",
    "-0.389474962644847286408078598235248389",
    "0.158841906555155600896210745707152481",
    "-0.395903894133237577336231539347938936",
    "0.184539640978315707091832541533375463",
    "0.258374387686322047293979109994939472",
    "0.295011723609310298870966240218228113",
)
DIGITS = {
    "yoshida6": YOSHIDA6,
    "kahan-li6": KAHAN_LI6,
    "yoshida8": YOSHIDA8,
    "suzuki-umeno8": SUZUKI_UMENO8,
    "kahan-li8": KAHAN_LI8,
}


def numbers(name: str) -> tuple[float, ...]:
    """The digits of a composition, rounded once."""
    return tuple(float(digits) for digits in DIGITS[name])


def suzuki_digits(order: int) -> tuple[Decimal, ...]:
    """All weights of S_2k(h) = S(p h)^2 S((1 - 4 p) h) S(p h)^2 with S = S_2k-2 and p = 1 / (4 - 4^(1/(2k-1))): 5^(k-1) substeps."""
    weights = [Decimal(1)]
    with localcontext() as context:
        context.prec = 40
        for k in range(3, order, 2):
            p = 1 / (4 - Decimal(4) ** (Decimal(1) / k))
            weights = [outer * inner for outer in (p, p, 1 - 4 * p, p, p) for inner in weights]
    return tuple(weights)


def suzuki(order: int) -> tuple[float, ...]:
    """First half of Suzuki's fractal, rounded once."""
    weights = suzuki_digits(order)
    return tuple(float(w) for w in weights[: len(weights) // 2])
