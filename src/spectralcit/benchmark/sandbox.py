"""Limits of time and memory: replicates in a child process that can be killed.

A signal cannot interrupt a long call into compiled code, and a limit on address space breaks JAX, which
reserves far more than it uses. So a worker with limits keeps one child process, hands it one replicate after
another, and kills it when a replicate takes too long or too much; the next replicate gets a new child. A
crash of the child is a recorded failure too.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from typing import IO

from .bundle import Bundle, run_bundle
from .memory import resident_mb
from .record import Record
from .trial import failed

__all__ = ["Limits", "run_limited"]

_LENGTH = struct.Struct(">Q")  # eight bytes before each message say how long it is
_LOOK_SECONDS = 0.02  # how often memory is looked at; by hand: a gigabyte takes longer to fill
_START_SECONDS = 300.0  # imports on a busy machine are not the fault of a replicate
_READY = b"ready"  # said by the child before it begins, so that its start does not count as the test's time
_MEMORY = "MemoryLimit"  # what the error of such a failure begins with
_local = threading.local()  # each worker thread has its own child


@dataclass(frozen=True)
class Limits:
    """What a replicate may use."""

    seconds: float | None = None  # of the clock, for data and test together
    megabytes: float | None = None  # resident in the process, Python and its packages included

    @property
    def any(self) -> bool:
        """Whether there is a limit."""
        return self.seconds is not None or self.megabytes is not None


def run_limited(bundle: Bundle, limits: Limits) -> list[Record]:
    """Run what belongs together in this process, or under limits in the child of this thread."""
    if not limits.any:
        return run_bundle(bundle)
    child = getattr(_local, "child", None)
    is_new = False
    if child is None or child.poll() is not None:
        child = _local.child = _start()
        is_new = True
    started = time.monotonic()
    outcome = _converse(child, bundle, limits)
    if isinstance(outcome, list):
        return outcome
    _stop(child)
    if outcome.startswith(_MEMORY) and not is_new:
        return run_limited(bundle, limits)  # what earlier replicates left in the process is not its fault
    samples = {job.key.replicate for job in bundle}
    if len(samples) > 1:  # one of them may have killed the others
        parts = (tuple(job for job in bundle if job.key.replicate == sample) for sample in sorted(samples))
        return [result for part in parts for result in run_limited(part, limits)]
    seconds = time.monotonic() - started
    return [failed(job, outcome, seconds) for job in bundle]


def release() -> None:
    """End the child of this thread, if there is one."""
    child = getattr(_local, "child", None)
    if child is not None:
        _stop(child)
        del _local.child


def _start() -> subprocess.Popen[bytes]:
    code = "from spectralcit.benchmark.sandbox import serve; serve()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        bufsize=0,  # nothing may hide in a buffer that `select` does not see
    )
    return child


def _stop(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    for stream in (child.stdin, child.stdout):
        if stream is not None:
            with contextlib.suppress(BrokenPipeError):
                stream.close()
    child.wait()


def _converse(child: subprocess.Popen[bytes], bundle: Bundle, limits: Limits) -> list[Record] | str:
    """Send the jobs, wait for the answer; text says why there is none."""
    assert child.stdin is not None
    try:
        _write(child.stdin, _packed(bundle))
        problem = _wait(child, Limits(_START_SECONDS))
        if problem or _read_from(child) != _READY:
            return problem or "the child process said something strange"
        problem = _wait(child, limits)
        if problem:
            return problem
        results: list[Record] = pickle.loads(_read_from(child))
        peak = max(result.peak_mb or 0.0 for result in results)
        too_much = limits.megabytes is not None and peak > limits.megabytes
        return _too_much_memory(limits) if too_much else results  # a peak may pass between two looks
    except (BrokenPipeError, EOFError):
        code = child.wait()
        cause = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
        return f"WorkerError: the process died ({cause})"


def _packed(bundle: Bundle) -> bytes:
    try:
        import cloudpickle  # joblib depends on it
    except ImportError:
        from joblib.externals import cloudpickle  # older joblib brings its own copy
    return cloudpickle.dumps(bundle)


def _wait(child: subprocess.Popen[bytes], limits: Limits) -> str:
    """Wait until the child has something to say; return why it may not go on, or an empty text."""
    assert child.stdout is not None
    started = time.monotonic()
    while True:
        look = _LOOK_SECONDS if limits.megabytes is not None else 1.0
        if limits.seconds is not None:
            look = min(look, max(0.0, started + limits.seconds - time.monotonic()))
        if select.select([child.stdout], [], [], look)[0]:
            return ""
        if limits.seconds is not None and time.monotonic() - started >= limits.seconds:
            return f"TimeLimit: more than {limits.seconds:g} seconds"
        if limits.megabytes is not None and resident_mb(child.pid) > limits.megabytes:
            return _too_much_memory(limits)


def _too_much_memory(limits: Limits) -> str:
    return f"{_MEMORY}: more than {limits.megabytes:g} MB"


def _read_from(child: subprocess.Popen[bytes]) -> bytes:
    assert child.stdout is not None
    return _read(child.stdout)


def serve() -> None:
    """Be the child: run jobs from standard input until it closes."""
    # Whatever a test prints must not end up among the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    one_thread()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the worker decides what an interrupt means
    leave_with_parent()
    while True:
        try:
            content = _read(sys.stdin.buffer)
        except EOFError:
            return
        bundle = pickle.loads(content)
        _write(answers, _READY)
        _write(answers, pickle.dumps(run_bundle(bundle)))


def leave_with_parent() -> None:
    """End this process soon after its parent, even amid a replicate that nobody waits for any more."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def one_thread() -> None:
    """Hold BLAS and OpenMP of this process to one thread, for good: the same rounding, and no competition."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def _write(stream: IO[bytes], content: bytes) -> None:
    rest = memoryview(_LENGTH.pack(len(content)) + content)
    while rest:  # an unbuffered stream may take a part only
        rest = rest[stream.write(rest) :]
    stream.flush()


def _read(stream: IO[bytes]) -> bytes:
    (size,) = _LENGTH.unpack(_exactly(stream, _LENGTH.size))
    return _exactly(stream, size)


def _exactly(stream: IO[bytes], size: int) -> bytes:
    parts = []
    while size:
        part = stream.read(size)
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
