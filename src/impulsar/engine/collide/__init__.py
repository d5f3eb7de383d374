"""Collision detection: which shapes touch, where and by how much. One thread does all of a world."""
