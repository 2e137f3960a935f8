"""The fast engine: what ``kuiper.load`` runs a model on, beside the readable layers.

Everything that does not depend on the numbers in the inputs is decided once, when a plan is made for their shapes:
which algorithm, where in memory, in which pieces. A run then only computes. The modules, in the order of a call:

    plan time, in Python
        engine.py          one model's plans, found by the shapes of the inputs, or why the layers are to do it
        compile.py         from a graph and shapes to an executable, step by step on plain data
        graph_lowering.py  operator by operator: each becomes a view, steps, or a call of its layer
        rest.py            what follows an operator whose output sizes depend on numbers: a graph of its own
        lowering/          from a layer to steps, one module per family of operators
        builder.py         what a lowering asks for: memory, values as its kernel reads them, steps
        transfers.py       values that come onto the arena, leave it, or move on it
        concatenation.py   parts that move into the whole
        planned_step.py    a step to be, and how long buffers are needed
        values.py          what is known of a tensor: a view of memory that does not exist yet
        cost.py            how many cycles a convolution will take; winograd_cost.py by Winograd's algorithm
        packing.py         weights in the order in which the tile reads them; winograd_matrices.py, expression_code.py
                           and arrangement.py do such work for Winograd and for elementwise steps
        chains.py          which steps are to run together, a few rows at a time
        arena.py           where each buffer lies, so that those that are not needed at once share memory
        memory.py          the memory itself, of arenas and of weights: in large pages where there are any
        executable.py      what comes out, as data

    run time, compiled
        runner.py          programs and layers in turn, on an arena of its own for each call; the frame, in Python
        program.pyx        runs steps on all threads: the only place where threads are; thread_pool.pxd is their barrier
        address.pyx        where an array from outside lies, of which a program is told in every call
        step.pxd           what a step is: a function, its numbers, how many tasks
        kernels/           one algorithm per .pyx, each a Step
        tile.pxd           the innermost loops, with C headers such as tile.h; blocks.pxd, functions.pxd:
                           all made of the vectors of kuiper/simd

    plan_report.py         ``model.plan()``: all of this as a table; clock.pyx measures what a cycle is

docs/inside/engine.md follows one image through it, docs/inside/kernel-style.md has the rules of the kernels. The graph
does not know this package: ``RuntimeGraph.build`` is handed ``Engine``, and asks of it what ``ExecutorProtocol`` says.
"""
