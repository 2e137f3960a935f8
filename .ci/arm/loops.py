"""Look at the tile's innermost loops as the compiler left them on ARM; see "On ARM" in docs/inside/kernel-style.md.

For each tile, of this many rows and vectors, the loop over four steps of depth is found in the disassembly of a module,
and its instructions are counted. All multiply-adds must take a lane of a register, and nothing may go through the
stack: a tile whose sums do not fit into the registers is an error.
"""

from __future__ import annotations

import re
import subprocess
import sys
from typing import NamedTuple

from kuiper.engine.kernels import convolution

INSTRUCTION = re.compile(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)")
BY_LANE = re.compile(r"(v\d+)\.4s, v\d+\.4s, (v\d+)\.s\[(\d)\]")


class Instruction(NamedTuple):
    """One line of the disassembly."""

    address: int
    name: str
    operands: str


class Loop(NamedTuple):
    """What was counted in a loop."""

    rows: int
    vectors: int
    instructions: int
    multiply_adds: int
    loads: int
    moves: int
    stack: int


def disassembly(path: str) -> list[Instruction]:
    """All instructions of a module, in the order of their addresses."""
    command = ["aarch64-linux-gnu-objdump", "--disassemble", "--no-show-raw-insn", path]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    found = (INSTRUCTION.match(line) for line in lines)
    return [Instruction(int(match[1], 16), match[2], match[3]) for match in found if match]


def innermost_loops(instructions: list[Instruction]) -> list[list[Instruction]]:
    """What stands between a branch backwards and its target, where no other such branch lies in between."""
    place = {instruction.address: i for i, instruction in enumerate(instructions)}
    spans = []
    for i, (address, name, operands) in enumerate(instructions):
        target = re.search(r"([0-9a-f]+) <", operands) if name.startswith(("b.", "cb")) else None
        if target and int(target[1], 16) < address and int(target[1], 16) in place:
            spans.append((place[int(target[1], 16)], i))
    return [
        instructions[first : last + 1]
        for first, last in spans
        if not any(first <= a and b <= last for a, b in spans if (a, b) != (first, last))
    ]


def counted(loop: list[Instruction]) -> Loop | None:
    """The counts of a loop that uses all four lanes, as only the tile's do; None for any other."""
    if any(instruction.name.startswith("ld") and instruction.operands.startswith("x") for instruction in loop):
        return None  # a turn for each tap: it fetches pointers
    multiply_adds = [instruction for instruction in loop if instruction.name == "fmla"]
    lanes = [BY_LANE.search(instruction.operands) for instruction in multiply_adds]
    rows = len({match[2] for match in lanes if match and match[3] == "3"})
    if not rows:
        return None
    loads = [instruction for instruction in loop if instruction.name in ("ldr", "ldur", "ldp", "ld1")]
    return Loop(
        rows=rows,
        vectors=sum(match is not None for match in lanes) // (4 * rows),
        instructions=len(loop),
        multiply_adds=len(multiply_adds),
        loads=sum(2 if instruction.name == "ldp" else 1 for instruction in loads),
        moves=sum(instruction.name == "mov" for instruction in loop),
        stack=sum("[sp" in instruction.operands for instruction in loop),
    )


def main() -> None:
    """Print the loops, and end with an error if one is missing or goes through the stack."""
    loops = sorted({loop for code in innermost_loops(disassembly(convolution.__file__)) if (loop := counted(code))})
    print("the tile's loops over four steps of depth\nrows  vectors  instructions  fmla  loads  moves  stack")
    for loop in loops:
        print(f"{loop[0]:4}  {loop[1]:7}  {loop[2]:12}  {loop[3]:4}  {loop[4]:5}  {loop[5]:5}  {loop[6]:5}")
    wanted = {(rows, i + 1) for i, most in enumerate(convolution.TILE_ROWS) for rows in range(1, most + 1)}
    found = {(loop.rows, loop.vectors) for loop in loops if loop.multiply_adds == 4 * loop.rows * loop.vectors}
    if found != wanted:
        sys.exit(f"loops: expected those of the tiles {sorted(wanted)}, got {sorted(found)}")
    spilled = [(loop.rows, loop.vectors) for loop in loops if loop.stack]
    if spilled:
        sys.exit(f"loops: expected sums that stay in registers, got some on the stack for (rows, vectors) {spilled}")


if __name__ == "__main__":
    main()
