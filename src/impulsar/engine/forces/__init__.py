"""Applied forces: each file gives its wrench and books its work."""
