"""Integration in time: embedded pairs, the choice of sub-steps, projection onto the constraints."""
