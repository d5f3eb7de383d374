"""Constraint rows, written once: what couples the bodies, whatever the coordinates and the method."""
