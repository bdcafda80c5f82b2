"""Where addresses are few, none are reserved that nobody uses."""

import subprocess
import sys

import pytest

resource = pytest.importorskip("resource")

_FEW = 3 * 2**30  # bytes of addresses; by hand: Arrow's own allocator would take a third of them
_CODE = """
import spectralcit
import pyarrow.dataset
print(pyarrow.default_memory_pool().backend_name)
"""


def backend(limit=resource.RLIM_INFINITY):
    # The new process limits itself: one that sets limits between fork and exec is no friend of threads.
    code = f"import resource\nresource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))\n{_CODE}"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return ran.stdout.strip()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not enforce the limit")
def test_arrow_takes_the_allocator_of_the_system_only_where_addresses_are_limited(monkeypatch):
    monkeypatch.delenv("ARROW_DEFAULT_MEMORY_POOL", raising=False)
    assert backend(_FEW) == "system"
    if resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:
        assert backend() != "system"
