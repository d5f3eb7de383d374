"""`python -m impulsar` is the command `impulsar`."""

import sys

from .entry import main

if __name__ == "__main__":  # workers of MPI and of processes import this too
    sys.exit(main())
