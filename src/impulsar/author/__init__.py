"""What a person writes: models and their parts. No kernels."""
