"""The naive twins: short, obviously right Python; each is the specification of the kernel module of the same name."""
