"""`python -m impulsar` is the command `impulsar`."""

import sys

from .cli import main

sys.exit(main())
