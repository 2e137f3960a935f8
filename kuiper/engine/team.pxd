"""What a team of threads needs: counters that several may change, a barrier, a clock.

Waiting at the barrier is written here, and not left to OpenMP, whose threads insist for milliseconds: on a busy machine the
thread that all wait for may need the very core on which one waits.
"""

cdef extern from *:
    """
    #include <time.h>
    #ifdef _OPENMP
    #include <omp.h>
    #endif
    #if defined(_MSC_VER)
      #include <windows.h>
      static long kuiper_take(long *next) { return InterlockedExchangeAdd(next, 1); }
      static void kuiper_set(long *value, long to) { InterlockedExchange(value, to); }
      static long kuiper_get(long *value) { return InterlockedExchangeAdd(value, 0); }
      #define KUIPER_PAUSE() YieldProcessor()
      #define KUIPER_YIELD() SwitchToThread()
    #else
      #include <sched.h>
      static long kuiper_take(long *next) { return __atomic_fetch_add(next, 1, __ATOMIC_ACQ_REL); }
      static void kuiper_set(long *value, long to) { __atomic_store_n(value, to, __ATOMIC_RELEASE); }
      static long kuiper_get(long *value) { return __atomic_load_n(value, __ATOMIC_ACQUIRE); }
      #if defined(__x86_64__) || defined(__i386__)
        #define KUIPER_PAUSE() __builtin_ia32_pause()
      #else
        #define KUIPER_PAUSE() ((void)0)
      #endif
      #define KUIPER_YIELD() sched_yield()
    #endif

    static void kuiper_barrier(long *arrived, long *passed, int threads) {
        const long barrier = kuiper_get(passed);
        if (kuiper_take(arrived) == threads - 1) {
            kuiper_set(arrived, 0);
            kuiper_take(passed);
            return;
        }
        for (long spins = 0; kuiper_get(passed) == barrier; spins++)
            if (spins < 4096) KUIPER_PAUSE(); else KUIPER_YIELD();
    }
    static int kuiper_team_size(void) {
    #ifdef _OPENMP
        return omp_get_num_threads();
    #else
        return 1;
    #endif
    }
    static double kuiper_seconds(void) {
        struct timespec now;
        timespec_get(&now, TIME_UTC);
        return now.tv_sec + 1e-9 * now.tv_nsec;
    }
    """
    # *next, and one is added to it, as one act that no other thread can come between
    long take "kuiper_take"(long* next) noexcept nogil
    # wait until ``threads`` threads are here; both counters start from 0
    void barrier "kuiper_barrier"(long* arrived, long* passed, int threads) noexcept nogil
    # how many threads there really are within a parallel region: a runtime may give fewer than it was asked for
    int team_size "kuiper_team_size"() noexcept nogil
    double seconds_now "kuiper_seconds"() noexcept nogil
