"""The core's clock, measured: what turns the cost model's cycles into the microseconds of a report.

Exclusive-or and shift of a register each take one cycle, and each needs the result of the one before it: no core is wide
enough to hurry such a chain. The planner does not use this; a plan must not depend on how busy a machine is.

Source: A. Fog, "Instruction tables" (the latencies); G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 2003
(numbers that never end at zero).
"""

from kuiper.engine.thread_pool cimport seconds_now

cdef enum:
    ROUNDS = 20_000
    CYCLES_OF_A_ROUND = 6
    TRIALS = 9

cdef volatile unsigned long long last  # written, so that no compiler leaves the chain out


def cycles_per_nanosecond():
    """How fast this core runs now, in GHz: the best of some trials of 30 microseconds.

    >>> 0.1 < cycles_per_nanosecond() < 20
    True
    """
    global last
    cdef unsigned long long x = 88172645463325252u
    cdef double shortest = 1e9, started
    cdef int trial, i
    for trial in range(TRIALS):
        started = seconds_now()
        for i in range(ROUNDS):
            x ^= x << 13
            x ^= x >> 7
            x ^= x << 17
        last = x
        shortest = min(shortest, seconds_now() - started)
    return ROUNDS * CYCLES_OF_A_ROUND / max(shortest, 1e-6) * 1e-9


def seconds():
    """The time by the clock that steps are timed with; only differences mean something.

    >>> seconds() <= seconds()
    True
    """
    return seconds_now()
