"""Speed of the compiled bi-level loop, next to an eager PyTorch loop that does the same steps.

Prints, in one run: milliseconds of one inner and one outer update in both (rounds alternate, so that both
meet the same load on the machine), the cost of a step against the batch size, what compilation costs at
the first call, at the second, and in a second process, and what training sixteen problems as one gains over
one after another. `--save` writes benchmarks/results/training_speed.txt. Without PyTorch its table is left
out; `--groups` prints the last table alone and writes benchmarks/results/training_groups.txt.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

try:
    import torch
except ImportError:  # the table beside it is left out
    torch = None

from spectralcit.paper.bilevel import TrainingProblem, train
from spectralcit.paper.config import PaperConfig

ROWS, N_Z, WIDTH, BATCH, RANK = 1024, 50, 128, 256, 10
ROUNDS = 7  # by hand: odd, for the median
PAIRS = 200  # inner + outer updates of one round


def problem(rows: int) -> TrainingProblem:
    data = np.random.default_rng(0).normal(size=(rows, 2 + N_Z))
    return TrainingProblem(data[:, :1], data[:, 1:2], data[:, 2:], np.random.SeedSequence(0))


def config(depth: int, batch: int, pairs: int, rows: int) -> PaperConfig:
    networks = {f"n_hidden_{net}": depth for net in "uvw"} | {f"layer_size_{net}": WIDTH for net in "uvw"}
    epochs = max(1, pairs // (rows // batch))
    return PaperConfig(output_dim=RANK, batch_size=batch, n_epochs=epochs, n_warmup=0, **networks)


def time_compiled(depth: int, batch: int = BATCH, pairs: int = PAIRS, rows: int = ROWS) -> float:
    """Seconds per inner + outer update of our loop, batches, checks and conversions included.

    Steady state: from the first report of progress to the last, when there are several.
    """
    ticks: list[tuple[float, int]] = [(time.perf_counter(), 0)]
    train(
        [problem(rows)],
        config(depth, batch, pairs, rows),
        progress=lambda done, _: ticks.append((time.perf_counter(), done)),
    )
    (start, before), (end, after) = ticks[1 if len(ticks) > 2 else 0], ticks[-1]
    return 2 * (end - start) / (after - before)


class EagerTorch:
    """The same networks, losses, penalties, clipping and Adam steps, as one writes them in PyTorch.

    `pairwise=False` uses the linear-time losses of this package; `pairwise=True` the tables of all pairs that
    the paper's double sums suggest.
    """

    def __init__(self, depth: int, *, pairwise: bool) -> None:
        torch.manual_seed(0)
        self.pairwise = pairwise
        self.settings = config(depth, BATCH, 1, ROWS)
        self.u, self.v, self.w = (
            self.network(n, depth, out) for n, out in ((1, RANK), (1 + N_Z, RANK), (N_Z, 2 * RANK))
        )
        self.m = torch.nn.Parameter(torch.nn.init.xavier_uniform_(torch.empty(RANK, RANK)))
        self.n = torch.nn.Parameter(torch.nn.init.xavier_uniform_(torch.empty(2 * RANK, 2 * RANK)))
        self.inner = [*self.w.parameters(), self.n]
        self.outer = [*self.u.parameters(), *self.v.parameters(), self.m]
        self.inner_adam = torch.optim.Adam(self.inner, lr=self.settings.lr_inner)
        self.outer_adam = torch.optim.Adam(self.outer, lr=self.settings.lr_outer)
        rows = problem(ROWS)
        self.x = torch.tensor(rows.x, dtype=torch.float32)
        self.yz = torch.tensor(np.hstack([rows.y, rows.z]), dtype=torch.float32)
        self.z = torch.tensor(rows.z, dtype=torch.float32)

    @staticmethod
    def network(n_in: int, depth: int, n_out: int) -> torch.nn.Sequential:
        layers: list[torch.nn.Module] = []
        for k in range(depth):
            layers += [torch.nn.Linear(n_in if k == 0 else WIDTH, WIDTH), torch.nn.Tanh()]
        return torch.nn.Sequential(*layers, torch.nn.Linear(WIDTH, n_out))

    def inner_loss(self, u: torch.Tensor, v: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        b, n = len(u), (self.n + self.n.T) / 2
        u, v, w = u - u.mean(0), v - v.mean(0), w - w.mean(0)
        mv, nw = v @ self.m.detach().T, w @ n
        if self.pairwise:
            table = w @ nw.T
            terms = table**2 - 2 * (u @ mv.T) * table
            return (terms.sum() - terms.diagonal().sum()) / (b * (b - 1))
        diagonal_w, diagonal = (w * nw).sum(1), (u * mv).sum(1)
        squares = ((w.T @ w) * (nw.T @ nw)).sum() - (diagonal_w**2).sum()
        products = ((u.T @ w) * (mv.T @ nw)).sum() - (diagonal * diagonal_w).sum()
        return (squares - 2 * products) / (b * (b - 1))

    def outer_loss(self, u: torch.Tensor, v: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        b = len(u)
        u, v, w = u - u.mean(0), v - v.mean(0), w - w.mean(0)
        mv = v @ self.m.T
        if self.pairwise:
            table = u @ mv.T
            terms = table**2 + 2 * table * (w @ w.T)
            return (terms.sum() - terms.diagonal().sum()) / (b * (b - 1)) - 2 * table.diagonal().mean()
        diagonal = (u * mv).sum(1)
        squares = ((u.T @ u) * (mv.T @ mv)).sum() - (diagonal**2).sum()
        explained = ((u.T @ w) * (mv.T @ w)).sum() - (diagonal * (w**2).sum(1)).sum()
        return (squares + 2 * explained) / (b * (b - 1)) - 2 * diagonal.mean()

    @staticmethod
    def penalty(features: torch.Tensor) -> torch.Tensor:
        centred = features - features.mean(0)
        return ((centred.T @ centred / len(features) - torch.eye(features.shape[1])) ** 2).sum()

    def step_inner(self, rows: torch.Tensor) -> None:
        with torch.no_grad():
            u, v = self.u(self.x[rows]), self.v(self.yz[rows])
        w = self.w(self.z[rows])
        loss = self.inner_loss(u, v, w) + self.settings.reg_str_inner * self.penalty(w)
        self.inner_adam.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.inner, self.settings.clip_norm)
        self.inner_adam.step()

    def step_outer(self, rows: torch.Tensor) -> None:
        with torch.no_grad():
            w = self.w(self.z[rows])
        u, v = self.u(self.x[rows]), self.v(self.yz[rows])
        loss = self.outer_loss(u, v, w) + self.settings.reg_str_outer * (self.penalty(u) + self.penalty(v))
        self.outer_adam.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.outer, self.settings.clip_norm)
        self.outer_adam.step()

    def time(self, pairs: int, threads: int) -> float:
        torch.set_num_threads(threads)
        started = time.perf_counter()
        for _ in range(pairs):
            self.step_inner(torch.randperm(ROWS)[:BATCH])
            self.step_outer(torch.randperm(ROWS)[:BATCH])
        return (time.perf_counter() - started) / pairs


def compare(depth: int, say: Callable[[str], None]) -> None:
    linear, tables = EagerTorch(depth, pairwise=False), EagerTorch(depth, pairwise=True)
    candidates: dict[str, Callable[[], float]] = {
        "compiled": lambda: time_compiled(depth),
        "torch": lambda: linear.time(30, 1),
        "torch, all cores": lambda: linear.time(30, os.cpu_count() or 1),
        "torch, tables": lambda: tables.time(30, 1),
    }
    for run in candidates.values():  # compile and warm up
        run()
    rounds = [{name: run() for name, run in candidates.items()} for _ in range(ROUNDS)]
    middle = {name: statistics.median(each[name] for each in rounds) for name in candidates}
    # PyTorch gets the better of one core and all cores.
    eager = min(middle["torch"], middle["torch, all cores"])
    say(
        f"{depth:>6} {1e3 * middle['compiled']:>10.2f} {1 / middle['compiled']:>8.0f}"
        f" {1e3 * middle['torch']:>9.2f} {1e3 * middle['torch, all cores']:>10.2f}"
        f" {1e3 * middle['torch, tables']:>8.2f}"
        f" {eager / middle['compiled']:>7.1f} {middle['torch, tables'] / middle['compiled']:>7.1f}"
    )


# In a process of its own, so that nothing is compiled before.
COMPILE_SCRIPT = """
import sys, time
sys.path.insert(0, sys.argv[1])
import training_speed as bench
from spectralcit.paper.bilevel import train
task, settings = bench.problem(1000), bench.config(int(sys.argv[2]), 256, 50, 1000)
for _ in range(2):
    started = time.perf_counter()
    train([task], settings)
    print(time.perf_counter() - started)
"""


def compilation(depth: int, say: Callable[[str], None]) -> None:
    """Seconds of a call that runs 50 updates of each level, in two fresh processes that share a cache."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("JAX_")}
        environment["XDG_CACHE_HOME"] = folder
        command = [sys.executable, "-c", COMPILE_SCRIPT, str(Path(__file__).parent), str(depth)]
        seconds = []
        for _ in range(2):
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            seconds += [float(line) for line in done.stdout.split()]
    say(f"{depth:>6} {seconds[0]:>12.2f} {seconds[1]:>12.2f} {seconds[2]:>22.2f}")


def scaling(say: Callable[[str], None]) -> None:
    for batch, pairs in ((256, 100), (1024, 50), (4096, 20), (16384, 10), (65536, 5)):
        time_compiled(1, batch, 1, batch)  # compile
        best = min(time_compiled(1, batch, pairs, batch) for _ in range(3))
        say(f"{batch:>8} {1e3 * best:>14.2f} {1e6 * best / batch:>16.2f}")


# Width, depth, columns of Z and mini-batch: small networks, and the published ones last.
GROUPS = ((16, 1, 5, 256), (32, 2, 5, 64), (32, 2, 50, 256), (64, 2, 50, 256), (128, 2, 50, 256))
PEAK_ROWS = 256  # rows of the product that says what this core can do at best


def groups(say: Callable[[str], None]) -> None:
    """Processor milliseconds of a step, one problem after another and sixteen as one (`vmap`)."""
    for width, depth, n_z, batch in GROUPS:
        one, together = (group_step(size, width, depth, n_z, batch) for size in (1, 16))
        products = batch * (2 + 2 * n_z + 4 * RANK + 3 * (depth - 1) * width) * width
        say(
            f"{width:>6} {depth:>6} {n_z:>5} {batch:>6} {1e-6 * products:>12.1f}"
            f" {1e3 * one:>9.3f} {1e3 * together:>9.3f} {one / together:>7.2f}"
        )


def group_step(size: int, width: int, depth: int, n_z: int, batch: int) -> float:
    """Processor seconds of a step per problem, training `size` problems as one; the best of three."""
    networks = {f"n_hidden_{net}": depth for net in "uvw"} | {f"layer_size_{net}": width for net in "uvw"}

    def settings(epochs: int) -> PaperConfig:
        return PaperConfig(output_dim=RANK, batch_size=batch, n_epochs=epochs, n_warmup=20, **networks)

    def task(seed: int) -> TrainingProblem:
        data = np.random.default_rng(seed).normal(size=(800, 2 + n_z))
        return TrainingProblem(data[:, :1], data[:, 1:2], data[:, 2:], np.random.SeedSequence(seed))

    tasks = [task(seed) for seed in range(size)]
    train(tasks, settings(1))  # compile
    found = []
    for _ in range(3):
        started = time.process_time()
        model = train(tasks, settings(max(1, 20 * batch // 256)))[0]
        steps = len(model.inner_curve) + len(model.outer_curve)
        found.append((time.process_time() - started) / steps / size)
    return min(found)


def best_products() -> float:
    """Billions of multiplications a second in a product of float32 matrices of the published width."""
    a, b = (np.random.default_rng(0).normal(size=(PEAK_ROWS, WIDTH)).astype(np.float32) for _ in range(2))
    b = b[:WIDTH]
    found = []
    for _ in range(5):
        started = time.process_time()
        for _ in range(200):
            a @ b
        found.append((time.process_time() - started) / 200)
    return 1e-9 * PEAK_ROWS * WIDTH * WIDTH / min(found)


def say_groups(say: Callable[[str], None]) -> None:
    say("Processor milliseconds of a step per problem, d = 10: one after another, and sixteen as one (vmap).")
    say("'products' is millions of products of weights and rows of one pass forward through u, v and w;")
    best = best_products()
    say(f"this core does {best:.0f} billion a second at best, and a step needs about 1.9 such passes.")
    say("")
    say(" width  depth   d_Z  batch  products, M   one, ms   16, ms   ratio")
    groups(say)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", action="store_true", help="write benchmarks/results/training_speed.txt")
    parser.add_argument("--groups", action="store_true", help="the table of sixteen problems as one, alone")
    arguments = parser.parse_args()
    lines: list[str] = []
    results = Path(__file__).parent / "results"

    def say(line: str) -> None:
        print(line, flush=True)
        lines.append(line)

    if arguments.groups:
        say_groups(say)
        (results / "training_groups.txt").write_text("\n".join(lines) + "\n")
        return
    say(f"Bi-level training, batch {BATCH}, width {WIDTH}, d = {RANK}, d_Z = {N_Z}.")
    say(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start.")
    say(f"Milliseconds of one inner and one outer update, median of {ROUNDS} alternating rounds. 'ratio' is")
    say("eager PyTorch (better of 1 and all cores) over ours; 'tables' the same with losses over all pairs.")
    say("")
    say(" depth   ours, ms pairs/s torch, ms  all cores   tables   ratio  tables")
    for depth in (1, 2) if torch is not None else ():
        compare(depth, say)
    say("")
    say("Cost of one inner and one outer update against the batch, depth 1. Linear: time a row is level.")
    say("")
    say("   batch     ms a pair   us a row of it")
    scaling(say)
    say("")
    say("Seconds of a call with 50 updates of each level: compilation is in the first one.")
    say("")
    say(" depth   first call  second call  first call, process 2")
    for depth in (1, 2):
        compilation(depth, say)
    say("")
    say_groups(say)
    if arguments.save:
        (results / "training_speed.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
