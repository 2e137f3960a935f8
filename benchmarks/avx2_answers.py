"""What a copy of a package (``avx2_packages``) is told about the CPU: that it has no AVX-512 and no AMX.

All other answers are the CPU's own, so that sizes of caches, names and AVX2 itself are as they are. Linux on x86-64
only. Imported in a peer's process: it needs no more than Python itself.

Source: Intel, "Intel 64 and IA-32 Architectures Software Developer's Manual", volume 2A (CPUID); the registers that a
signal handler finds are those of Linux, ``struct ucontext`` and ``struct sigcontext``.
"""

from __future__ import annotations

import ctypes
import mmap
import signal
import sys
from typing import Any

CPUID = b"\x0f\xa2"
QUESTION = b"\x0f\xff"
"""What stands in its place: an instruction that no CPU has and no compiler writes."""

HIDDEN = {
    (7, 0): (
        0,
        1 << 16 | 1 << 17 | 1 << 21 | 1 << 26 | 1 << 27 | 1 << 28 | 1 << 30 | 1 << 31,  # F DQ IFMA PF ER CD BW VL
        1 << 1 | 1 << 6 | 1 << 11 | 1 << 12 | 1 << 14,  # VBMI VBMI2 VNNI BITALG VPOPCNTDQ
        1 << 2 | 1 << 3 | 1 << 8 | 1 << 22 | 1 << 23 | 1 << 24 | 1 << 25,  # 4VNNIW 4FMAPS VP2INTERSECT, FP16 and AMX
    ),
    (7, 1): (1 << 5 | 1 << 21, 0, 0, 0),  # BF16, AMX with FP16
    (13, 0): (0b1110_0000 | 0b11 << 17, 0, 0, 0),  # the registers of AVX-512 and AMX as parts of a thread's state
}
"""By leaf and subleaf: bits of eax, ebx, ecx and edx that are 0 for these packages."""

# push rbx; mov r8, rdx; mov eax, edi; mov ecx, esi; cpuid;
# mov [r8], eax; mov [r8+4], ebx; mov [r8+8], ecx; mov [r8+12], edx; pop rbx; ret
ASK = bytes.fromhex("53 4989d0 89f8 89f1 0fa2 418900 41895804 41894808 4189500c 5b c3")
FIRST_REGISTER = 40
"""Where the general registers begin in what the handler gets, in bytes."""
RBX, RDX, RAX, RCX, RIP = 11, 12, 13, 14, 16
WITH_CONTEXT, WITHIN_ITSELF = 4, 0x40000000  # SA_SIGINFO, SA_NODEFER

Answer = ctypes.c_uint32 * 4


class SignalAction(ctypes.Structure):
    """``struct sigaction`` of the C library."""

    _fields_ = (
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_ulong * 16),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    )


class Answers:
    """From now on, this process answers copied packages' questions; ``asked`` counts them."""

    def __init__(self, *folders: str) -> None:
        """Let ``import`` find the copies in these folders first."""
        self.asked = 0
        self.cpuid = function(ASK, None, ctypes.c_uint32, ctypes.c_uint32, ctypes.POINTER(Answer))
        self.c_library = ctypes.CDLL(None)
        self.handler = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(self.on_illegal)
        action = SignalAction(ctypes.cast(self.handler, ctypes.c_void_p), flags=WITH_CONTEXT | WITHIN_ITSELF)
        self.c_library.sigaction(signal.SIGILL, ctypes.byref(action), None)
        sys.path[:0] = folders

    def on_illegal(self, number: int, information: int, context: int) -> None:
        """Write the answer into the registers, and go on behind the question; what else is illegal ends the process."""
        registers = (ctypes.c_uint64 * (RIP + 1)).from_address(context + FIRST_REGISTER)
        if ctypes.string_at(registers[RIP], len(QUESTION)) != QUESTION:
            self.c_library.signal(signal.SIGILL, None)
            return
        self.asked += 1
        values = self.answer(registers[RAX] & 0xFFFFFFFF, registers[RCX] & 0xFFFFFFFF)
        registers[RAX], registers[RBX], registers[RCX], registers[RDX] = values
        registers[RIP] += len(QUESTION)

    def answer(self, leaf: int, subleaf: int) -> list[int]:
        """eax, ebx, ecx and edx."""
        values = Answer()
        self.cpuid(leaf, subleaf, ctypes.byref(values))
        hidden = HIDDEN.get((leaf, subleaf), (0, 0, 0, 0))
        return [value & ~bits for value, bits in zip(values, hidden, strict=True)]


def function(code: bytes, result: type | None, *arguments: type) -> Any:
    """Machine code as a function; Python's lock is held while it runs."""
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    made: Any = ctypes.PYFUNCTYPE(result, *arguments)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    made.page = page  # as long as the function
    return made
