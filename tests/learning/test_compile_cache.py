import os
import subprocess
import sys

CACHE_SCRIPT = """
import os, sys
import jax, numpy as np
hits = []
jax.monitoring.register_event_listener(lambda event, **_: hits.append(event))
from spectralcit.paper.bilevel import TrainingProblem, train
from spectralcit.paper.config import PaperConfig
assert jax.config.values["jax_compilation_cache_dir"] == (os.environ.get("JAX_COMPILATION_CACHE_DIR") or None)
rows = np.random.default_rng(0).normal(size=(64, 3))
train([TrainingProblem(rows[:, :1], rows[:, 1:2], rows[:, 2:], np.random.SeedSequence(0))],
      PaperConfig(output_dim=2, layer_size_u=8, layer_size_v=8, layer_size_w=8, n_epochs=1, n_warmup=0))
print(jax.config.values["jax_compilation_cache_dir"])
print(sum(event == "/jax/compilation_cache/cache_hits" for event in hits))
"""


def run_with_cache(**variables):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "XDG_"))} | variables
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", CACHE_SCRIPT], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    folder, hits = done.stdout.split()
    return folder, int(hits)


def test_a_later_process_finds_the_compiled_loop(tmp_path):
    folder, hits = run_with_cache(XDG_CACHE_HOME=str(tmp_path))
    assert folder.startswith(str(tmp_path / "spectralcit" / "jax"))
    assert hits == 0
    assert run_with_cache(XDG_CACHE_HOME=str(tmp_path)) == (folder, 1)


def test_an_unwritable_cache_folder_and_the_users_own_are_respected(tmp_path):
    (tmp_path / "file").touch()
    assert run_with_cache(XDG_CACHE_HOME=str(tmp_path / "file")) == ("None", 0)
    own = str(tmp_path / "own")
    assert run_with_cache(JAX_COMPILATION_CACHE_DIR=own, XDG_CACHE_HOME=str(tmp_path))[0] == own
    assert not (tmp_path / "spectralcit").exists()
