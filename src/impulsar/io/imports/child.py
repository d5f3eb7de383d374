"""A reader of someone else's, in a process of its own with limits of memory and time.

    python child.py mjcf|usd|cad|mesh FILE|- < bytes

Such readers are C++: they can take any time and memory, and crash. What a file became is written to standard output as
JSON: what `read(path, data)` of MODULE_child.py beside this file gives, {"refusal": why}, {"missing": package} or
{"fault": what was not foreseen}.
"""

import importlib.util
import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

MOST_MEMORY = 4 * 2**30  # bytes of address space
MOST_SECONDS = 60  # of the processor's time


def limit() -> None:
    """Bound this process; it writes no file."""
    try:
        import resource
    except ImportError:  # Windows: the time is limited by who waits
        return
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def module_of(kind: str) -> ModuleType:
    """KIND_child.py, without the package: that would be imported in each process."""
    spec = importlib.util.spec_from_file_location(kind, Path(__file__).with_name(f"{kind}_child.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def words(error: BaseException) -> str:
    """What an error says; those of USD quote bytes that may be no text."""
    try:
        return " ".join(str(error).split())[:1000]
    except UnicodeDecodeError:
        return "it holds bytes that are no text; save it as UTF-8"


def answer(reader: ModuleType, path: str, data: bytes) -> dict[str, Any]:
    """What a reader makes of a file, or why it does not."""
    try:
        found: dict[str, Any] = reader.read(path, data)
    except ImportError:
        found = {"missing": reader.PACKAGE}
    except MemoryError:
        found = {"refusal": f"takes more than {MOST_MEMORY // 2**20} MiB to read"}
    except (ValueError, RuntimeError, OSError) as error:
        found = {"refusal": words(error)}
    except Exception as error:
        found = {"fault": f"{type(error).__name__}: {words(error)}"}
    return found


def main() -> None:
    """Read a file within limits and write what it is, or the refusal."""
    limit()
    out = os.fdopen(os.dup(1), "w")  # what a library prints goes elsewhere
    os.dup2(2, 1)
    json.dump(answer(module_of(sys.argv[1]), sys.argv[2], sys.stdin.buffer.read()), out)
    out.flush()


if __name__ == "__main__":
    main()
