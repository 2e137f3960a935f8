"""Many pictures: find them, run them over processes or a cluster, and write what comes of it so that nothing is lost.

picture_files   which files of a folder are pictures
processes       over the cores of this machine
dask_cluster    over those of others
record_file     one line of JSON for each picture; a run that was stopped goes on
drawn_records   the same, with the pictures drawn
"""
