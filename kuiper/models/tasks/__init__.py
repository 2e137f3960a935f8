"""What a network is used for: each task takes pictures and gives answers that a person reads.

classification   which class a picture shows
detection        where things are: a box, a label and a score for each;  boxes, nms: IoU and non-maximum suppression
segmentation     the class of each pixel
image_to_image   a network whose output is a picture
drawing          detections and regions, drawn on the picture
batches          several pictures in one call, or one after the other if the graph has a fixed batch size
declared_input   the size of the picture that a model's file asks for
"""
