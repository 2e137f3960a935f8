"""A page that shows a network at work: ``kuiper explore``, ``model.explore(x)``; see docs/use/explore.md.

explore     gathers all that the page shows, in this order:
stages      the graph as it stands in the file, after each pass, and as the steps of the plan
groups      which operators belong together
operators   what each of them is: parameters, formula, source, parameters and operations
values      what flows between them: pictures, histograms, NaN
windows     which pixels of the input an operator sees, and by which weights
timing      the steps of runs, by thread
memory      the arena over the steps
budget      what of all that fits into the page
page        the document: template, styles, scripts and data in one file; the format of the data
"""
