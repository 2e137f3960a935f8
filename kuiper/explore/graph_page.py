"""The stages as the page has them: nodes with their groups, edges, and keys into the page's other tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kuiper.explore.families import family_of
from kuiper.explore.groups import find_groups
from kuiper.graph.summary import format_shape
from kuiper.language import _, noop, translate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kuiper.explore.arrays import Table
    from kuiper.explore.stages import Stage

TITLES = {
    "file": noop("The graph as it stands in the file."),
    "remove_no_ops": noop("Takes out dropout and identity, which do nothing at inference."),
    "fold_constants": noop("Computes once what does not depend on the inputs."),
    "take_in_stored_weights": noop("Gives functions whose weights are stored with the model these weights."),
    "eliminate_common_subexpressions": noop("Computes once what stands in the graph twice."),
    "eliminate_dead_code": noop("Takes out operators and constants that no output needs."),
    "fuse_caches_into_attention": noop("Makes one operator of attention and the caches of its keys and values."),
    "fold_batch_norm_into_conv": noop("Gives a convolution weights that do the batch norm's work, too."),
    "fold_batch_norm_into_linear": noop("Gives a linear layer weights that do the batch norm's work, too."),
    "fuse_add_into_conv": noop("Lets a convolution add the other branch of a residual block."),
    "fuse_add_into_linear": noop("Lets a linear layer add the other branch of a residual block."),
    "recognise_layer_norm": noop("Makes nn.LayerNorm of the operators that spell it out."),
    "tabulate_functions_of_bytes": noop("Looks up what a quantised file computes of one byte, with floats in between."),
    "multiply_in_bytes": noop("Computes in bytes what a quantised file spells with floats in between."),
    "recognise_attention": noop("Makes one operator of those that spell attention out."),
    "fuse_scales_into_integer_products": noop(
        "Lets a product of bytes give floats, with the scale and the bias behind it."
    ),
    "fold_affine_into_weights": noop("Folds constant factors and addends into the weights in front of them."),
    "fuse_expressions": noop("Makes one expression of two, one behind the other."),
    "recognise_gelu": noop("Makes F.gelu of an expression that spells it out."),
    "recognise_silu": noop("Makes F.silu of a number times its sigmoid."),
    "hoist_activation_above_views": noop(
        "Lets an activation change places with reshapes and permutations in front of it."
    ),
    "fuse_activation_into_conv": noop("Lets a convolution apply the activation behind it."),
    "fuse_activation_into_linear": noop("Lets a linear layer apply the activation behind it."),
    "fuse_activation_into_expression": noop("Lets an expression apply the activation behind it."),
    "plan": noop("The steps of the plan: what the engine runs, one after the other."),
}
"""One sentence for each stage; those of the passes are the table's in docs/reference/passes.md."""


def stage_table(stage: Stage, operators: Mapping[int, str], values: Mapping[Any, str | None]) -> Table:
    """A stage of the graph.

    Parameters
    ----------
    stage : the operators after a pass
    operators : the page's key of each node's operator, by the node's place
    values : the page's key of each value, by its operand; None where the page has none
    """
    nodes = [
        {
            "id": index,
            "name": node.name,
            "type": node.type,
            "family": family_of(node.type),
            "operator": operators[index],
            "change": node.change,
            "from": node.sources,
        }
        for index, node in enumerate(stage.nodes)
    ]
    edges = [
        {"from": source, "to": target, "value": values.get(carried.operand), "shape": format_shape(carried.shape)}
        for source, target, carried in stage.edges()
    ]
    table = {"name": stage.name, "title": _title(stage.name)}
    return {**table, **_grouped(nodes, edges), "removed": stage.removed}


def plan_stage(steps: Sequence[Table], edges: Sequence[tuple[int, int, Any]], before: Mapping[str, int]) -> Table:
    """The steps of a plan as a stage: each reads from the steps that the operators in front of its own end with.

    Parameters
    ----------
    steps : the plan's steps as the page has them
    edges : source, target, and the (key, shape) of what goes from one to the other
    before : the place of each operator in the stage before, by the page's key
    """
    nodes = [
        {
            "id": index,
            "name": step["operator"],
            "type": step["algorithm"],
            "family": step["family"],
            "operator": step["operator"],
            "step": index,
            "change": "same",
            "from": [before[step["operator"]]] if step["operator"] in before else [],
        }
        for index, step in enumerate(steps)
    ]
    wires = [{"from": a, "to": b, "value": key, "shape": shape} for a, b, (key, shape) in edges]
    return {"name": "plan", "title": _title("plan"), **_grouped(nodes, wires), "removed": []}


def _title(stage: str) -> str:
    return translate(TITLES[stage]) if stage in TITLES else _("The pass {name}.").format(name=stage)


def _grouped(nodes: list[Table], edges: list[Table]) -> Table:
    """Nodes and edges, each node with its group: where the boxes stand, the page finds itself."""
    groups = find_groups({node["id"]: node["name"] for node in nodes}, [(edge["from"], edge["to"]) for edge in edges])
    for node in nodes:
        node["group"] = groups.get(node["id"], "")
    return {"nodes": nodes, "edges": edges}
