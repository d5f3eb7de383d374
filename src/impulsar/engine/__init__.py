"""All that a kernel sees: arrays, stages, methods."""
