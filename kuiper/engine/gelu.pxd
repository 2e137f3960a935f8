"""GELU, x Phi(x), where Phi is the normal distribution: x / 2 + |x| P(|x|) with P(y) = Phi(y) - 1/2 = erf(y / sqrt 2) / 2.

A fraction that is good for all of P needs eleven coefficients and a division. Cut into pieces, a polynomial of third degree
does, if a lookup gives each lane the coefficients of its own piece:

    P   |              .  - ' ' ' ' ' 1/2        piece k: y = (k + t) h, |t| <= 1/2
        |       . '|       |
        |   . '    |       |                     ENTRIES   pieces up to   degree   error of P
        | '  |     |       |                        32         5.5           3         2e-7
        +-0--|--1--|--2----|--- ... y                8         6             6         2e-8

The last piece is the number 1/2, so that all x below are 0 and all x above are x. The pieces were fitted one by one, as
what vector_math.pxd has: least squares at Chebyshev nodes, reweighted until the largest error was smallest. Where nothing
can be looked up, Phi is that fraction.

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
        {-0.000370154128f, -0.000353421201f, -0.000304308487f, -0.000230721955f, -0.000143242592f, -5.35428044e-05f,
         2.77536583e-05f, 9.27520159e-05f, 0.000137187468f, 0.000160468539f, 0.000165010555f, 0.000155140326f,
         0.000135935406f, 0.000112206399f, 8.78425344e-05f, 6.55166732e-05f, 4.67023019e-05f, 3.18916282e-05f,
         2.08994243e-05f, 1.31615661e-05f, 7.97389475e-06f, 4.65164612e-06f, 2.61475657e-06f, 1.41712064e-06f,
         7.40891835e-07f, 3.73820626e-07f, 1.82093359e-07f, 8.56618243e-08f, 3.89282881e-08f, 1.70936669e-08f,
         7.25423899e-09f, 0.0f},
        {-4.62688718e-07f, -0.00109446805f, -0.00208811159f, -0.00289543159f, -0.00345834065f, -0.00375267444f,
         -0.00378819765f, -0.00360277575f, -0.00325262779f, -0.00280117011f, -0.00230885274f, -0.00182572962f,
         -0.00138745713f, -0.00101466698f, -0.000714821101f, -0.000485508703f, -0.000318133563f, -0.000201219227f,
         -0.00012290552f, -7.2523384e-05f, -4.13549278e-05f, -2.27948458e-05f, -1.21480725e-05f, -6.26076007e-06f,
         -3.12084512e-06f, -1.50490791e-06f, -7.02100692e-07f, -3.16951713e-07f, -1.38464301e-07f, -5.85430548e-08f,
         -2.39576039e-08f, 0.0f},
        {0.0707801282f, 0.0696747601f, 0.066461429f, 0.0614318214f, 0.0550232902f, 0.0477561355f, 0.0401643999f,
         0.0327327698f, 0.0258495919f, 0.0197812635f, 0.014668433f, 0.0105400523f, 0.00733890338f, 0.00495163724f,
         0.00323739531f, 0.00205102935f, 0.00125914917f, 0.000749051454f, 0.000431792636f, 0.000241194735f,
         0.000130553773f, 6.84762563e-05f, 3.48032227e-05f, 1.71406664e-05f, 8.18021635e-06f, 3.78294931e-06f,
         1.69521559e-06f, 7.3611875e-07f, 3.09741466e-07f, 1.26292989e-07f, 4.98984996e-08f, 0.0f},
        {0.0f, 0.0704104304f, 0.138644665f, 0.2027262f, 0.261047721f, 0.31248644f, 0.356452376f, 0.392869711f,
         0.422102153f, 0.444841951f, 0.461984426f, 0.474507928f, 0.483374238f, 0.489457339f, 0.493501902f,
         0.496107936f, 0.497735202f, 0.498719901f, 0.499297351f, 0.499625504f, 0.499806195f, 0.499902666f,
         0.499952555f, 0.499977559f, 0.499989688f, 0.49999541f, 0.499998003f, 0.499999166f, 0.499999672f,
         0.499999881f, 0.49999994f, 0.5f}
    };
    #elif KUIPER_ENTRIES == 8
    enum { KUIPER_DEGREE = 6 };
    #define KUIPER_PIECES_OF_ONE 1.1666667f
    static const float kuiper_normal[KUIPER_DEGREE + 1][8] = {
        {-0.000653152529f, -0.00103204232f, 0.000468719372f, 0.000159061383f, -7.28791274e-05f, -1.69732302e-05f,
         -1.01871831e-06f, 0.0f},
        {0.00504047237f, -0.000843399961f, -0.00208620075f, 0.000361578859f, 0.000306366361f, 3.87249092e-05f,
         1.71333431e-06f, 0.0f},
        {-0.000138442687f, 0.0120592117f, 0.000221966708f, -0.00305617438f, -0.000754983223f, -6.05713722e-05f,
         -1.93569963e-06f, 0.0f},
        {-0.0418486111f, -0.00770365819f, 0.0186721906f, 0.00861884281f, 0.00126144302f, 7.43886631e-05f,
         1.8986251e-06f, 0.0f},
        {-1.74464958e-06f, -0.0869963467f, -0.0577996336f, -0.0138142817f, -0.0014076808f, -6.45117398e-05f,
         -1.36213373e-06f, 0.0f},
        {0.341950566f, 0.236824751f, 0.078671433f, 0.012535098f, 0.000958028308f, 3.5128458e-05f, 6.18310537e-07f,
         0.0f},
        {0.0f, 0.304317027f, 0.456761867f, 0.494935989f, 0.499696612f, 0.49999088f, 0.499999851f, 0.5f}
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
    return y * piece(k, bounded * PIECES_OF_ONE - (k - to_bits)) + x * half
