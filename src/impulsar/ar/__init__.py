"""Augmented Reality: cameras, markers, trackers, and how real and virtual are brought together (Mariti 2012).

Two paths that stay apart. Pictures: `camera.py` gives stamped frames, `markers.py` the pose of what is printed in
them. Intent: `trackers/` gives stamped tips of a stylus, wand or pointer. `calibration.py` finds where a tracker stands
in the world of the marker, so that what is simulated is as precise as the tracker, whatever the camera sees.

Frames: K camera (x right, y down, z ahead), M marker (x right, y up, z out of the sheet), R room (the marker or board
that stands for the world), T tracker's base, S stylus. `X_AB` is a 4x4 matrix that takes points of B to A.

OpenCV and pyserial come with `pip install impulsar[ar]`; neither is imported before a camera or a port is used.
"""
