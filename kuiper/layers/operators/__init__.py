"""The operators: one, or one tight family, per file. The directory listing is the operator list.

Importing a module is what registers its layers; ``kuiper.layers`` imports them all.
"""
