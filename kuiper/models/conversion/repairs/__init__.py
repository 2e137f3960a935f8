"""What pnnx loses between a trace and its files, found out from the model itself and written back.

calls        every operation that the model runs: its arguments, and what comes out
candidates   for an operator, the ways to write what may have been lost, one module for each family
operator_run one operator of a file, computed by kuiper
graph_edit   operators in the place of one
repair       walks over the graph, and keeps the candidate whose output the model computes

recurrent_outputs   what numbers do not tell, but the trace does: which outputs a recurrent network returns
"""

from kuiper.models.conversion.repairs.recurrent_outputs import name_outputs
from kuiper.models.conversion.repairs.repair import repair

__all__ = ["name_outputs", "repair"]
