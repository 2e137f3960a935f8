"""What a model's files say beside its graph and weights.

model_card   the JSON beside a graph: which task it is for, how its input is prepared, which labels its classes have
labels       the names of classes, from a card or a file
"""
