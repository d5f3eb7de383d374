"""What goes wrong, told so that it can be mended: the part's name, the value and the cure."""

import unicodedata

LONGEST_MESSAGE = 4000  # characters of an error
CODED = {"Cc", "Cs", "Zl", "Zp"}  # categories of letters that a message shows by their codes


def plain(text: str) -> str:
    """A text as it may go to a terminal: what would be obeyed there is shown by its code instead."""
    if text.isprintable():
        return text
    return "".join(
        ascii(letter)[1:-1] if unicodedata.category(letter) in CODED and letter != "\n" else letter for letter in text
    )


class ModelError(ValueError):
    """A mistake in a model: the part's name, the value and the cure."""

    def __init__(self, text: str = ""):
        if len(text) > LONGEST_MESSAGE:
            text = f"{text[: LONGEST_MESSAGE // 2]} ... {text[-LONGEST_MESSAGE // 2 :]}"
        super().__init__(plain(text))


class FileError(ModelError):
    """Something wrong in a file or a message: the place, the value and the cure."""


class StepError(RuntimeError):
    """A step could not be taken, or a strict world has trouble.

    Where a step could not be taken `cause` says why, `body` what broke and `time` when [s]; the world has gone back
    to its last good step and is paused.
    """

    cause: str | None = None

    def __init__(self, text: str, body: str | None = None, time: float | None = None):
        super().__init__(text)
        self.body, self.time = body, time
