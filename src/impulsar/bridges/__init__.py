"""Trajectories as functions in other libraries, with their gradients: PyTorch and JAX, imported when they are used."""
