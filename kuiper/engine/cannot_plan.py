"""The one error that says that a graph cannot be planned.

Any other error of planning is a mistake of kuiper's, unless the layers fail, too.
"""

from __future__ import annotations


class CannotPlanError(Exception):
    """No plan for these shapes; the readable layers will run the graph, and raise what there is to raise."""
