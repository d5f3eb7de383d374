"""Where the process of the command `impulsar` begins and ends.

Loading makes half a million objects that live as long as the process: the syntax trees of Warp functions. To look
through them for garbage again and again while they are made takes a third of the time of starting, and once more at the
end as long as half of it. So garbage is looked for less often, and at the end not at all.
"""

import atexit
import gc

SELDOM = (100_000, 20, 20)  # objects made, and looks through younger ones, between looks through the next older


def main() -> int:
    """Run one command in a process of its own and return its exit status."""
    gc.set_threshold(*SELDOM)
    atexit.register(gc.freeze)
    from .cli import main as command

    return command()
