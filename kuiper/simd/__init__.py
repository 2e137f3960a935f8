"""Vectors of floats for the kernels: C headers, each with a thin .pxd of the same name in front of it.

    vector.h     the type ``vec``: LANES floats of one register; load, store, fma, comparisons, lookups
    sums.h       sixteen running sums, so that a sum has the same bits with vectors of any length
    functions.h  exp, log, tanh, sigmoid, erf, GELU and their kin, of a whole vector
    scalar.h     exp, tanh, sigmoid, erf and their kin of one float: plain loops over them become vector code
    activations.h  the table of activations: a row for each, with its cost and its formulas, for layers and engine

Intrinsics of CPUs stand in these headers, and in the few tiles that need instructions of their own. Compilers get
``-ffp-contract=off``: a product and a sum are fused where ``fma``, ``fnma`` or ``fma_of_one`` is written, and nowhere
else. So the bits of a result do not depend on the compiler, on what it tunes for, or on how it cuts a loop.
"""
