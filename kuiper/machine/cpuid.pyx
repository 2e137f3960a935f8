"""What this machine's CPU can do, asked at run time.

This module is compiled for the oldest CPU there is, so that it loads anywhere and can say what is missing.
The instruction CPUID answers a question, its leaf, with four registers of bits. That the CPU has an instruction is not
enough: the operating system must also save the wide registers when it goes from one process to another, and says so in a
register of its own, XCR0.

Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, CPUID, and volume 1, 14.3 and 15.2.
"""

cdef extern from *:
    """
    #if defined(_M_X64) || defined(__x86_64__)
      enum { KUIPER_X86 = 1 };
      #if defined(_MSC_VER) && !defined(__clang__)
        #include <intrin.h>
        static void kuiper_cpuid(unsigned int leaf, unsigned int part, unsigned int answer[4]) {
            __cpuidex((int *)answer, (int)leaf, (int)part);
        }
        static unsigned int kuiper_xcr0(void) { return (unsigned int)_xgetbv(0); }
      #else
        #include <cpuid.h>
        static void kuiper_cpuid(unsigned int leaf, unsigned int part, unsigned int answer[4]) {
            __cpuid_count(leaf, part, answer[0], answer[1], answer[2], answer[3]);
        }
        static unsigned int kuiper_xcr0(void) {
            unsigned int low, high;
            __asm__ volatile ("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
            return low;
        }
      #endif
      #if defined(__APPLE__)
        enum { KUIPER_SAVES_ON_USE = 1 };
      #else
        enum { KUIPER_SAVES_ON_USE = 0 };
      #endif
    #else
      enum { KUIPER_X86 = 0, KUIPER_SAVES_ON_USE = 0 };
      static void kuiper_cpuid(unsigned int leaf, unsigned int part, unsigned int answer[4]) {
          (void)leaf;
          (void)part;
          answer[0] = answer[1] = answer[2] = answer[3] = 0;
      }
      static unsigned int kuiper_xcr0(void) { return 0; }
    #endif
    """
    const bint KUIPER_X86
    const bint KUIPER_SAVES_ON_USE  # macOS: XCR0 has the bits of AVX-512 only once a process has used it
    void kuiper_cpuid(unsigned int leaf, unsigned int part, unsigned int* answer) nogil
    unsigned int kuiper_xcr0() nogil

cdef enum:
    EAX
    EBX
    ECX
    EDX

cdef unsigned int HIGHEST = 0x80000000  # the leaf that says how far the extended ones go
cdef unsigned int UNIT = 0x8000001A  # AMD's: how the core executes vectors

cdef enum:  # of XCR0: the halves of the registers that are saved
    SAVES_AVX = 0b110
    SAVES_AVX512 = 0b11100110


def features():
    """The vector extensions that this machine can run, or None where they cannot be asked for (not x86)."""
    cdef unsigned int limit[4]
    cdef unsigned int basic[4]
    cdef unsigned int extended[4]
    cdef unsigned int further[4]
    cdef unsigned int saved = 0, wide, widest
    if not KUIPER_X86:
        return None
    kuiper_cpuid(0, 0, limit)
    kuiper_cpuid(1, 0, basic)
    extended[EAX] = extended[EBX] = extended[ECX] = further[EAX] = 0
    if limit[EAX] >= 7:
        kuiper_cpuid(7, 0, extended)  # its EAX says how many parts the answer has beside this one
    if extended[EAX] >= 1:
        kuiper_cpuid(7, 1, further)
    if basic[ECX] >> 27 & 1:  # there is an XCR0 to be read
        saved = kuiper_xcr0()
    wide = (saved & SAVES_AVX) == SAVES_AVX
    widest = wide and (KUIPER_SAVES_ON_USE or (saved & SAVES_AVX512) == SAVES_AVX512)
    found = {
        "sse4.2": basic[ECX] >> 20 & 1,
        "avx": wide & basic[ECX] >> 28,
        "avx2": wide & extended[EBX] >> 5,
        "fma": wide & basic[ECX] >> 12,
        "bmi2": extended[EBX] >> 8 & 1,
        "avx512f": widest & extended[EBX] >> 16,
        "avx512bw": widest & extended[EBX] >> 30,
        "avx512dq": widest & extended[EBX] >> 17,
        "avx512vl": widest & extended[EBX] >> 31,
        "avx512_vnni": widest & extended[ECX] >> 11,
        "avx_vnni": wide & further[EAX] >> 4,
    }
    return frozenset([name for name, there in found.items() if there])


def splits_avx512():
    """Whether this core executes a vector of AVX-512 in two halves, as Zen 4 does and some of Zen 5.

    AMD's CPUs say how wide their unit for vectors is: leaf 8000_001A, EAX, bit 3 stands for 512 bits. Others do not
    split. Source: AMD64 Architecture Programmer's Manual, volume 3, appendix E.4.
    """
    cdef unsigned int vendor[4]
    cdef unsigned int limit[4]
    cdef unsigned int width[4]
    if not KUIPER_X86 or "avx512f" not in features():
        return False
    kuiper_cpuid(0, 0, vendor)
    if (vendor[EBX], vendor[EDX], vendor[ECX]) != (0x68747541, 0x69746E65, 0x444D4163):  # AuthenticAMD
        return False
    kuiper_cpuid(HIGHEST, 0, limit)
    if limit[EAX] < UNIT:
        return True
    kuiper_cpuid(UNIT, 0, width)
    return not width[EAX] >> 3 & 1
