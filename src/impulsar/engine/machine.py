"""What the bits of a result depend on besides its inputs: the processor that kernels are compiled for, and Warp."""

import platform
from pathlib import Path


def cpu_name() -> str:
    """What the machine calls its processor."""
    return _cpu_fields().get("model name") or platform.processor() or platform.machine()


def machine_key() -> str:
    """Processor and Warp version: with the same key the same inputs give the same bits."""
    import warp as wp

    found = _cpu_fields()
    model = "/".join(found[name] for name in ("cpu family", "model") if name in found)
    return ", ".join(part for part in (cpu_name(), model, platform.machine(), f"warp {wp.__version__}") if part)


def _cpu_fields() -> dict[str, str]:
    """The first processor of /proc/cpuinfo, where there is one."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").partition("\n\n")[0].splitlines()
    except OSError:
        return {}
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
