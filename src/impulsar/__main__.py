"""`python -m impulsar` is the command `impulsar`."""

import sys

from .entry import main

sys.exit(main())
