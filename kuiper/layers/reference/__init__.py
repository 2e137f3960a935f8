"""Short, obviously right Python; each module is the specification of the kernel module of the same name."""
