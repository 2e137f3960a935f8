"""What the kernels of this level were compiled for. It lies at each level, as they do.

LANES are the floats of a vector, REGISTERS those of the CPU that hold vectors. FUSES says whether ``fma`` rounds once. VNNI
is the instruction by which kernels multiply bytes where the CPU has it, by the name that Linux gives it, or nothing.
"""

from kuiper.simd.vector cimport FUSES as FUSES_OF_BUILD
from kuiper.simd.vector cimport LANES as LANES_OF_BUILD
from kuiper.simd.vector cimport REGISTERS as REGISTERS_OF_BUILD
from kuiper.simd.vector cimport VNNI as VNNI_OF_BUILD

LANES = LANES_OF_BUILD
REGISTERS = REGISTERS_OF_BUILD
FUSES = bool(FUSES_OF_BUILD)
VNNI = VNNI_OF_BUILD.decode()
