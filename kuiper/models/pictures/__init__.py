"""From a picture file to the numbers that a network takes.

picture_file   opens files, in the formats that are allowed, and up to a stated size
preprocess     reads, resizes, crops and normalises
letterbox      scales a picture into a square without changing its proportions, and finds the way back
"""
