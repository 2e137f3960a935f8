"""From a decoder that takes and returns its caches to one that keeps them: a graph with state.

    before   tokens, past keys, past values, ... -> logits, present keys, present values, ...
    after    tokens -> logits, with kuiper.Cache, kuiper.Positions and kuiper.CausalAttention inside

decoder_inputs   which input of the model is what, told by shapes
evaluation       the value of every operand of a graph for given inputs
attentions       which operators attend to the caches, told by values
state            the new graph
session_check    a session beside the model that is called with its own caches
"""

from kuiper.models.conversion.caches.decoder_inputs import DecoderInputs
from kuiper.models.conversion.caches.session_check import verify_session
from kuiper.models.conversion.caches.state import Stateful, add_state

__all__ = ["DecoderInputs", "Stateful", "add_state", "verify_session"]
