"""exp, expm1, log1p, tanh, sigmoid and erf of one float, written so that a loop over them becomes vector code.

A call into libm stops the vectoriser, and a branch does too. So here is no call and no branch: only arithmetic, and
choices between two computed values. All are within a few units in the last place (relative error below 5e-7), give
NaN for NaN, and reach their limits at +inf and -inf.

    x = n ln 2 + r,   |r| <= ln 2 / 2        exp(x) = 2**n exp(r)

2**n costs nothing (n goes into the exponent bits of a float), and exp(r) is a short polynomial since r is small:

    |----- n = -1 -----|------ n = 0 ------|----- n = 1 -----|        r is the distance from the middle of the cell
         -ln 2                   0               ln 2

``fma_of_one`` is one instruction of vectors, too, where the build has it.

A literal such as 0.5 is a double in C, and one double makes the whole loop double: hence 0.5f.

Source: W. Cody and W. Waite, Software Manual for the Elementary Functions, 1980, chapter 6 (the reduction).
"""

cdef extern from "kuiper/simd/scalar.h":
    float exp "kuiper_exp_of_one"(float x) noexcept nogil
    float sigmoid "kuiper_sigmoid_of_one"(float x) noexcept nogil
    float tanh "kuiper_tanh_of_one"(float x) noexcept nogil
