"""How layers become steps: one module per family, each function registered for the layer classes that it knows.

    @lowers(Conv2d, FusedConv2d)
    def lower_convolution(layer, inputs, builder):  ->  the outputs

A lowering looks at shapes, chooses an algorithm, asks the builder for memory and emits steps. If it declines, all that
it has asked for is taken back (``Builder.attempt``), and the layer itself runs:

    1. decline_if(...)                               other axes or modes than it knows, weights that do not fit
    2. builder.on_arena(input)                       float32 inputs, imported from outside once; or it declines
    3. builder.image(shape) or builder.rows(shape)   memory for the output, perhaps a part of a concatenation later
    4. builder.pack(key, make)                       weights in kernel order, made once for all plans of the model
    5. builder.emit(algorithm, make, reads, writes, flops)

What else a lowering or ``make`` raises is a mistake, and told as one (``kuiper.graph.fallback``).

``make`` builds the Step later, when every buffer has its place in the arena; until then offsets are not known.

A lowering is found by the layer's exact class: a student's own layer under the same operator type, or a subclass of
kuiper's, runs as it is. kuiper's activations are lowered as ``Elementwise``, by the ``function`` that they are. The
functions that share the class ``AtenFunction`` are told apart by their type, with ``@lowers_function``. Modules of this
package are imported by themselves: a new one needs no list to stand in.
"""

from __future__ import annotations

import importlib
import pkgutil

from kuiper.engine.lowering.registry import find_lowering as find_lowering
from kuiper.engine.lowering.registry import lowers as lowers

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
