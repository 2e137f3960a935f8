"""GELU, x Phi(x), where Phi is the normal distribution: x / 2 + |x| P(|x|) with P(y) = Phi(y) - 1/2 = erf(y / sqrt 2) / 2.

A fraction that is good for all of P needs eleven coefficients and a division. Cut into pieces, a polynomial of third degree
does, if a lookup gives each lane the coefficients of its own piece:

    P   |              .  - ' ' ' ' ' 1/2        piece k: y = (k - t) h, |t| <= 1/2
        |       . '|       |
        |   . '    |       |                     ENTRIES   pieces up to   degree   error of P
        | '  |     |       |                        32         5.5           3         2e-7
        +-0--|--1--|--2----|--- ... y                8         5.5           5         3e-7

The last piece is the number 1/2, so that all x below are 0 and all x above are x. The pieces are fitted one by one, by
tests/engine/normal_pieces.py. t counts downwards from the middle, as that gives -0.0 for -0.0: of x = 0 it is 0, by which
the first derivative, then negative, gives -0.0, and the constant of the first piece is -0.0. Where nothing can be looked
up, Phi is a fraction.

Source: D. Hendrycks, K. Gimpel, "Gaussian Error Linear Units (GELUs)", 2016.
"""

from kuiper.engine.vector cimport ENTRIES, at_most, lookup, magnitude, splat, vec
from kuiper.engine.vector_math cimport normal_distribution

cdef extern from *:
    """
    #if KUIPER_ENTRIES == 32
    enum { KUIPER_DEGREE = 3 };
    #define KUIPER_PIECES_OF_ONE 5.6363636f
    static const float kuiper_normal[KUIPER_DEGREE + 1][32] = {
        {0.00037015413f, 0.00035342108f, 0.0003043084f, 0.00023072191f, 0.00014324259f, 5.3542833e-05f,
         -2.7753598e-05f, -9.275194e-05f, -0.0001371874f, -0.00016046847f, -0.00016501051f, -0.0001551403f,
         -0.00013593539f, -0.0001122064f, -8.784254e-05f, -6.551668e-05f, -4.6702316e-05f, -3.1891646e-05f,
         -2.0899435e-05f, -1.3161576e-05f, -7.973901e-06f, -4.6516507e-06f, -2.6147595e-06f, -1.4171228e-06f,
         -7.408929e-07f, -3.7382128e-07f, -1.8209369e-07f, -8.5662016e-08f, -3.8928377e-08f, -1.7093711e-08f,
         -7.254263e-09f, 0.0f},
        {-4.6270014e-07f, -0.001094468f, -0.0020881116f, -0.0028954316f, -0.0034583407f, -0.0037526744f,
         -0.0037881976f, -0.0036027757f, -0.0032526278f, -0.00280117f, -0.0023088527f, -0.0018257296f, -0.0013874571f,
         -0.001014667f, -0.0007148211f, -0.0004855087f, -0.00031813356f, -0.00020121923f, -0.00012290552f,
         -7.2523384e-05f, -4.1354928e-05f, -2.2794846e-05f, -1.2148072e-05f, -6.26076e-06f, -3.1208451e-06f,
         -1.5049079e-06f, -7.021007e-07f, -3.169517e-07f, -1.384643e-07f, -5.8543055e-08f, -2.3957604e-08f, 0.0f},
        {-0.07078013f, -0.06967476f, -0.06646143f, -0.06143182f, -0.05502329f, -0.047756135f, -0.0401644f,
         -0.03273277f, -0.025849592f, -0.019781264f, -0.014668433f, -0.010540052f, -0.0073389034f, -0.0049516372f,
         -0.0032373953f, -0.0020510294f, -0.0012591492f, -0.00074905145f, -0.00043179264f, -0.00024119474f,
         -0.00013055377f, -6.8476256e-05f, -3.480322e-05f, -1.7140666e-05f, -8.180215e-06f, -3.7829493e-06f,
         -1.6952155e-06f, -7.3611875e-07f, -3.0974147e-07f, -1.2629299e-07f, -4.9898496e-08f, 0.0f},
        {-0.0f, 0.07041043f, 0.13864467f, 0.2027262f, 0.26104772f, 0.31248644f, 0.35645238f, 0.3928697f, 0.42210215f,
         0.44484195f, 0.46198443f, 0.47450793f, 0.48337424f, 0.48945734f, 0.4935019f, 0.49610794f, 0.4977352f,
         0.4987199f, 0.49929735f, 0.4996255f, 0.4998062f, 0.49990267f, 0.49995255f, 0.49997756f, 0.4999897f,
         0.4999954f, 0.499998f, 0.49999917f, 0.49999967f, 0.49999988f, 0.49999994f, 0.5f}
    };
    #elif KUIPER_ENTRIES == 8
    enum { KUIPER_DEGREE = 5 };
    #define KUIPER_PIECES_OF_ONE 1.2727273f
    static const float kuiper_normal[KUIPER_DEGREE + 1][8] = {
        {-0.0026901553f, 0.00019822818f, 0.0016146045f, -7.895755e-06f, -0.00029069546f, -6.8393165e-05f,
         -5.9112094e-06f, 0.0f},
        {0.00021678988f, 0.0084549235f, 0.0016139896f, -0.002303316f, -0.0009955312f, -0.00014628995f, -9.588696e-06f,
         0.0f},
        {0.032312673f, 0.009069202f, -0.013780827f, -0.009137502f, -0.0020515614f, -0.00020690303f, -1.01429705e-05f,
         0.0f},
        {7.1199147e-06f, -0.07103519f, -0.05630386f, -0.018049065f, -0.00277102f, -0.00021461112f, -8.570076e-06f,
         0.0f},
        {-0.3134544f, -0.23020776f, -0.09119166f, -0.019483851f, -0.0022453673f, -0.0001395857f, -4.682385e-06f, 0.0f},
        {-0.0f, 0.28398222f, 0.44195852f, 0.490792f, 0.49916345f, 0.49995726f, 0.49999878f, 0.5f}
    };
    #else
    enum { KUIPER_DEGREE = 0 };
    #define KUIPER_PIECES_OF_ONE 1.0f
    static const float kuiper_normal[1][1] = {{0.5f}};
    #endif
    /* P(t) of the piece whose number is in the lowest bits of k, by Horner's rule. */
    KUIPER_INLINE kuiper_vec kuiper_piece(kuiper_vec k, kuiper_vec t) {
        kuiper_vec p = kuiper_lookup(kuiper_normal[0], k);
        KUIPER_UNROLL
        for (int i = 1; i <= KUIPER_DEGREE; i++) p = p * t + kuiper_lookup(kuiper_normal[i], k);
        return p;
    }
    """
    float PIECES_OF_ONE "KUIPER_PIECES_OF_ONE"
    vec piece "kuiper_piece"(vec k, vec t) noexcept nogil


cdef inline vec gelu(vec x) noexcept nogil:
    """x Phi(x) within 6e-7 of itself, and 3e-7 times the larger of 1 and |x| up to 6."""
    cdef float half = 0.5, to_bits = 12582912
    cdef vec y = magnitude(x)
    cdef vec bounded = at_most(y, splat((ENTRIES - 1) / PIECES_OF_ONE))
    cdef vec k = bounded * PIECES_OF_ONE + to_bits
    if ENTRIES == 1:
        return x * normal_distribution(x)
    return y * piece(k, (k - to_bits) - bounded * PIECES_OF_ONE) + x * half
