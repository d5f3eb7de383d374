"""Readings of a running system on the host."""
