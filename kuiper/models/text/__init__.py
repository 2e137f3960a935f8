"""From text to text, and from text to vectors: what stands around a language model, and around an encoder.

    text -> characters | tokenizer: tokens -> the model: scores -> sampling: a token -> back again: text, piece by piece

protocols    what a language model must offer, and a session of it
sampling     from scores to the next token: temperature, top-k, top-p, repetition penalty
characters   a vocabulary of characters, from a model card
tokenizer    Hugging Face's tokenizer.json
chat         from messages to a prompt, by the template that a model brings
checkpoint   config.json and safetensors, as NumPy arrays
generation   the loop, and where it ends
conversation questions and answers, on one session

language_model   all of it, from a bundled model, a .param file or a folder of Hugging Face's form
decoder_config, decoder_graph   from a configuration and weights to a graph with state

embedding_model   texts to vectors, with a folder of Hugging Face's form; embedding_folder: what that says
encoder_config, encoder_graph   from a configuration and weights to a graph that reads whole texts

``tokenizer``, ``chat`` and ``checkpoint`` need the packages of the extra ``text``; nothing here imports them before
they are called.
"""
