"""What an impulse does: the same verbs for trees (generalized) and free bodies (maximal)."""
