"""Which devices the tests run on; signals as a terminal leaves them."""

import os
import signal
import threading

import pytest
import warp as wp

wp.config.log_level = wp.LOG_WARNING  # no banner, no line per loaded module


def hear_signals() -> None:
    """Undo what `nohup` or a shell's `&` has done: processes started by tests would ignore these, too."""
    usual = {"SIGINT": signal.default_int_handler, "SIGQUIT": signal.SIG_DFL, "SIGHUP": signal.SIG_DFL}
    for name, handler in usual.items():
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, handler)


if threading.current_thread() is threading.main_thread():
    hear_signals()


def device_names() -> list[str]:
    """Devices for the `device` fixture: IMPULSAR_TEST_DEVICES if set, else the CPU and the first CUDA device.

    The variable is for hosts where Warp has no CPU compiler: IMPULSAR_TEST_DEVICES=cuda:0.
    """
    named = os.environ.get("IMPULSAR_TEST_DEVICES", "")
    devices = [name.strip() for name in named.split(",") if name.strip()]
    if devices:
        return devices
    return ["cpu", "cuda:0"] if wp.is_cuda_available() else ["cpu"]


DEVICES = device_names()


def pytest_report_header() -> str:
    """Say which devices are tested."""
    if not wp.is_cuda_available():
        return "no CUDA device: device tests run on the CPU only"
    return f"device tests run on: {', '.join(DEVICES)}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say it under -q too, where pytest hides the header."""
    if not terminalreporter.showheader:
        terminalreporter.write_line(pytest_report_header())


@pytest.fixture(scope="session", params=DEVICES)
def device(request: pytest.FixtureRequest) -> str:
    """Each device in turn, as the name `World(device=...)` takes."""
    return request.param
