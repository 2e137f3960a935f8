"""Threads that wait for work, and the few words in memory by which they agree.

    caller:  start ----------- work as thread 0 ----------- part
                \\                                         /
    worker:  (asleep) ... work as thread 1 ... leaves when there is nothing left

Threads are hired when they are first needed, and kept: one that has nothing to do looks for work for a moment, then sleeps.
Nobody ever waits for a *thread*, only for work that a thread has begun. A worker that wakes late, because another program has
its core, joins at the step where the others are, or finds the job done and goes; a caller that finds all workers taken by
other callers works alone. A job is memory of its own, counted, which its last user frees: the caller may be long gone when a
worker wakes that was meant to help.

All words are read and written in one order that all threads see alike (sequential consistency): it costs nothing here, and who
puts down a word and then looks whether anybody sleeps cannot miss one who goes to sleep and then looks at the word.

After a fork the child has the thread that forked and no other: it forgets the workers and hires its own.
"""

cdef extern from "kuiper/engine/thread_pool.h":
    ctypedef long long Word "kuiper_word"  # once a second thread knows it, only by these four:
    long long get "kuiper_get"(Word* word) noexcept nogil
    void put "kuiper_set"(Word* word, long long to) noexcept nogil
    long long add "kuiper_add"(Word* word, long long n) noexcept nogil  # what it was before
    bint swap "kuiper_swap"(Word* word, long long old, long long new) noexcept nogil  # false if it was not ``old``

    ctypedef struct Gate "kuiper_gate":
        pass
    void open_gate "kuiper_open_gate"(Gate* gate) noexcept nogil
    void wait "kuiper_wait"(Gate* gate, Word* word, long long least) noexcept nogil  # until it is that large
    void call "kuiper_call"(Gate* gate) noexcept nogil  # those who wait, after the word has grown

    # The beginning of a struct from malloc, which has whatever else the work needs. The caller is its first user.
    ctypedef struct Job "kuiper_job":
        void (*work)(Job* job, int thread) noexcept nogil
        Gate gate
        Word users
        Word joined
    int offer "kuiper_offer"(Job* job, int helpers, int most) noexcept nogil
    void take_back "kuiper_take_back"(Job* job) noexcept nogil
    void leave "kuiper_leave"(Job* job) noexcept nogil
    long long hired "kuiper_get_hired"() noexcept nogil  # threads there are

    double seconds_now "kuiper_seconds"() noexcept nogil
