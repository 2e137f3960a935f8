/* See thread_pool.pxd, which explains it. */
#ifndef KUIPER_ENGINE_THREAD_POOL_H
#define KUIPER_ENGINE_THREAD_POOL_H

#include <stdint.h>
#include <stdlib.h>

enum { KUIPER_MAX_THREADS = 1024 }; /* kuiper/threads.py accepts no more */

#if defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <process.h>
#include <windows.h>
typedef SRWLOCK kuiper_lock;
typedef CONDITION_VARIABLE kuiper_condition;
#define KUIPER_LOCK_FREE SRWLOCK_INIT
#define KUIPER_YIELD() SwitchToThread()
static void kuiper_take_lock(kuiper_lock *lock) { AcquireSRWLockExclusive(lock); }
static void kuiper_give_lock(kuiper_lock *lock) { ReleaseSRWLockExclusive(lock); }
static void kuiper_sleep(kuiper_condition *woken, kuiper_lock *lock) { SleepConditionVariableSRW(woken, lock, INFINITE, 0); }
static void kuiper_wake(kuiper_condition *woken) { WakeAllConditionVariable(woken); }
static double kuiper_seconds(void) {
    LARGE_INTEGER ticks, per_second;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&per_second);
    return (double)ticks.QuadPart / (double)per_second.QuadPart;
}
#else
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
typedef pthread_mutex_t kuiper_lock;
typedef pthread_cond_t kuiper_condition;
#define KUIPER_LOCK_FREE PTHREAD_MUTEX_INITIALIZER
#define KUIPER_YIELD() sched_yield()
static void kuiper_take_lock(kuiper_lock *lock) { pthread_mutex_lock(lock); }
static void kuiper_give_lock(kuiper_lock *lock) { pthread_mutex_unlock(lock); }
static void kuiper_sleep(kuiper_condition *woken, kuiper_lock *lock) { pthread_cond_wait(woken, lock); }
static void kuiper_wake(kuiper_condition *woken) { pthread_cond_broadcast(woken); }
static double kuiper_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
#endif

#if defined(_MSC_VER) && !defined(__clang__)
typedef volatile long long kuiper_word;
static long long kuiper_get(kuiper_word *word) { return InterlockedCompareExchange64(word, 0, 0); }
static void kuiper_set(kuiper_word *word, long long to) { InterlockedExchange64(word, to); }
static long long kuiper_add(kuiper_word *word, long long n) { return InterlockedExchangeAdd64(word, n); }
static int kuiper_swap(kuiper_word *word, long long from, long long to) {
    return InterlockedCompareExchange64(word, to, from) == from;
}
#define KUIPER_PAUSE() YieldProcessor()
#else
typedef long long kuiper_word;
static long long kuiper_get(kuiper_word *word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }
static void kuiper_set(kuiper_word *word, long long to) { __atomic_store_n(word, to, __ATOMIC_SEQ_CST); }
static long long kuiper_add(kuiper_word *word, long long n) { return __atomic_fetch_add(word, n, __ATOMIC_SEQ_CST); }
static int kuiper_swap(kuiper_word *word, long long from, long long to) {
    return __atomic_compare_exchange_n(word, &from, to, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
#if defined(__x86_64__) || defined(__i386__)
#define KUIPER_PAUSE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define KUIPER_PAUSE() __asm__ __volatile__("isb")
#else
#define KUIPER_PAUSE() ((void)0)
#endif
#endif

/* Where threads sleep until a word is large enough. */
typedef struct {
    kuiper_lock lock;
    kuiper_condition woken;
    kuiper_word sleepers;
} kuiper_gate;

static void kuiper_open_gate(kuiper_gate *gate) {
#if defined(_WIN32)
    InitializeSRWLock(&gate->lock);
    InitializeConditionVariable(&gate->woken);
#else
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->woken, NULL);
#endif
    gate->sleepers = 0;
}

static void kuiper_close_gate(kuiper_gate *gate) {
#if defined(_WIN32)
    (void)gate;
#else
    pthread_cond_destroy(&gate->woken);
    pthread_mutex_destroy(&gate->lock);
#endif
}

/* Watch closely for some microseconds, then let others have the core now and then, and at last sleep: a core that
   sleeps can be given to the thread that all wait for, one that watches cannot. */
static void kuiper_wait(kuiper_gate *gate, kuiper_word *word, long long least) {
    const double patience = 100e-6;
    double began = 0;
    for (int looks = 0; kuiper_get(word) < least; looks++) {
        if (looks < 512) {
            KUIPER_PAUSE();
            continue;
        }
        const double now = kuiper_seconds();
        if (began == 0) {
            began = now;
        } else if (now - began > patience) {
            kuiper_take_lock(&gate->lock);
            kuiper_add(&gate->sleepers, 1);
            while (kuiper_get(word) < least) kuiper_sleep(&gate->woken, &gate->lock);
            kuiper_add(&gate->sleepers, -1);
            kuiper_give_lock(&gate->lock);
            return;
        }
        KUIPER_YIELD();
    }
}

/* Call it after the word has grown. */
static void kuiper_call(kuiper_gate *gate) {
    if (kuiper_get(&gate->sleepers) == 0) return;
    kuiper_take_lock(&gate->lock);
    kuiper_wake(&gate->woken);
    kuiper_give_lock(&gate->lock);
}

typedef struct kuiper_job kuiper_job;
struct kuiper_job {
    void (*work)(kuiper_job *job, int thread);
    kuiper_gate gate;
    kuiper_word users;  /* who may still touch this memory; the last one frees it */
    kuiper_word joined; /* workers that have begun */
};

/* A worker's word is 0: free, 1: at work, or the job that it is offered. */
typedef struct {
    kuiper_gate gate;
    kuiper_word offer;
    char line_of_its_own[64];
} kuiper_worker;

static kuiper_worker kuiper_workers[KUIPER_MAX_THREADS];
static kuiper_word kuiper_hired;
static kuiper_lock kuiper_hiring = KUIPER_LOCK_FREE;

static long long kuiper_get_hired(void) { return kuiper_get(&kuiper_hired); }

static void kuiper_leave(kuiper_job *job) {
    if (kuiper_add(&job->users, -1) != 1) return;
    kuiper_close_gate(&job->gate);
    free(job);
}

static void kuiper_serve(kuiper_worker *self) {
    for (;;) {
        kuiper_wait(&self->gate, &self->offer, 2);
        const long long offer = kuiper_get(&self->offer);
        if (offer == 0 || !kuiper_swap(&self->offer, offer, 1)) continue; /* it was taken back */
        kuiper_job *job = (kuiper_job *)(uintptr_t)offer;
        job->work(job, 1 + (int)kuiper_add(&job->joined, 1));
        kuiper_leave(job);
        kuiper_set(&self->offer, 0);
    }
}

#if defined(_WIN32)
static unsigned __stdcall kuiper_thread(void *self) {
    kuiper_serve((kuiper_worker *)self);
    return 0;
}
static int kuiper_start_thread(kuiper_worker *worker) {
    const uintptr_t handle = _beginthreadex(NULL, 0, kuiper_thread, worker, 0, NULL);
    if (handle) CloseHandle((HANDLE)handle);
    return handle != 0;
}
#else
static void *kuiper_thread(void *self) {
    kuiper_serve((kuiper_worker *)self);
    return NULL;
}
static void kuiper_forget_workers(void) {
    const kuiper_lock unlocked = KUIPER_LOCK_FREE;
    kuiper_hiring = unlocked;
    kuiper_set(&kuiper_hired, 0);
}
static int kuiper_start_thread(kuiper_worker *worker) {
    static int told; /* anyone who is here holds the lock for hiring */
    pthread_t thread;
    pthread_attr_t detached;
    sigset_t all, before;
    int failed;
    if (!told) told = pthread_atfork(NULL, NULL, kuiper_forget_workers) == 0;
    if (!told || pthread_attr_init(&detached)) return 0;
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&detached, 2 << 20); /* some systems give threads too little */
    sigfillset(&all); /* a signal is for the threads that Python knows; but for those of a mistake and of profilers */
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    sigdelset(&all, SIGTRAP);
    sigdelset(&all, SIGABRT);
    sigdelset(&all, SIGPROF);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&thread, &detached, kuiper_thread, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&detached);
    return !failed;
}
#endif

/* Whether there is a worker number ``index``; numbers are given in order. */
static int kuiper_hire(long long index) {
    kuiper_worker *worker = &kuiper_workers[index];
    int there;
    kuiper_take_lock(&kuiper_hiring);
    there = kuiper_get(&kuiper_hired) > index;
    if (!there) {
        kuiper_open_gate(&worker->gate);
        worker->offer = 0;
        there = kuiper_start_thread(worker);
        if (there) kuiper_set(&kuiper_hired, index + 1);
    }
    kuiper_give_lock(&kuiper_hiring);
    return there;
}

/* Offer the job to as many as ``helpers`` free workers, of no more than ``most`` in the process; how many got the offer. */
static int kuiper_offer(kuiper_job *job, int helpers, int most) {
    int offered = 0;
    if (most > KUIPER_MAX_THREADS) most = KUIPER_MAX_THREADS;
    for (long long i = 0; i < most && offered < helpers; i++) {
        kuiper_worker *worker = &kuiper_workers[i];
        if (i >= kuiper_get(&kuiper_hired) && !kuiper_hire(i)) break;
        if (kuiper_get(&worker->offer) != 0) continue;
        kuiper_add(&job->users, 1);
        if (kuiper_swap(&worker->offer, 0, (long long)(uintptr_t)job)) {
            kuiper_call(&worker->gate);
            offered++;
        } else {
            kuiper_add(&job->users, -1);
        }
    }
    return offered;
}

/* Take the offer back from those who have not come. */
static void kuiper_take_back(kuiper_job *job) {
    const long long offer = (long long)(uintptr_t)job, hired = kuiper_get(&kuiper_hired);
    for (long long i = 0; i < hired; i++)
        if (kuiper_get(&kuiper_workers[i].offer) == offer && kuiper_swap(&kuiper_workers[i].offer, offer, 0))
            kuiper_add(&job->users, -1);
}

#endif
