"""Solvers for rows: projected Gauss-Seidel sweeps, and small direct factorisations."""
