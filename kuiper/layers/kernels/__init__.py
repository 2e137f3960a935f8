"""The layers' kernels in Cython: one algorithm per module; they never check, never allocate, never raise."""
