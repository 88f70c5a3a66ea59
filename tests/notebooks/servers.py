"""Servers that tests start, and that never outlive them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

WAIT_SECONDS = 60


def free_port() -> int:
    """Return a port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def server(command: Sequence[str], *, answers: str, log: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """Run a server until the block ends; then it and all it started are killed.

    Args:
        command: What starts it.
        answers: Address that answers once it is up.
        log: File for what it prints.
        environment: Variables to set besides those of this process.
    """
    with log.open("w") as said:
        process = subprocess.Popen(
            command,
            stdout=said,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **environment},
            start_new_session=True,
        )
    try:
        _wait(process, answers, log)
        yield
    finally:
        for kind in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, kind)
            with suppress(subprocess.TimeoutExpired):
                process.wait(10)


def _wait(process: subprocess.Popen[bytes], answers: str, log: Path) -> None:
    stop = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < stop and process.poll() is None:
        with suppress(OSError), urllib.request.urlopen(answers, timeout=2):
            return
        time.sleep(0.1)
    raise AssertionError(f"the server is not up: {log.read_text()[-2000:]}")
