"""Which problems train together in one compiled loop."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..inputs import CIData
from .config import PaperConfig

__all__ = ["group_size", "groups_of_one_shape"]

_GROUP_SIZE = 16  # by hand: beyond it the work of a step, not its overhead, decides how long it takes
# Most memory for rows, parameters and activations of a group. By hand: a fraction of a small machine's.
_GROUP_BYTES = 512 * 2**20
# Most products of weights and rows in a step, beyond which arithmetic takes the time and a group only leaves
# the processor's cache: benchmarks/training_speed.py finds a gain at 0.3 million, none at 2, a loss at 5.
_GROUP_PRODUCTS = 1_000_000


def group_size(config: PaperConfig, columns: tuple[int, int, int] = (1, 1, 1)) -> int:
    """Most problems that train quicker together than one after another, with so many columns of x, y, z."""
    n_x, n_y, n_z = columns
    d, inputs = config.output_dim, {"u": n_x, "v": n_y + n_z, "w": n_z}
    products = 0
    for net, n_in in inputs.items():
        width, depth = getattr(config, f"layer_size_{net}"), getattr(config, f"n_hidden_{net}")
        n_out = 2 * d if net == "w" else d
        products += (n_in + n_out) * width + max(0, depth - 1) * width**2 if depth else n_in * n_out
    return 1 if config.batch_size * products > _GROUP_PRODUCTS else _GROUP_SIZE


def groups_of_one_shape(datas: Sequence[CIData], config: PaperConfig) -> list[list[int]]:
    """Positions in groups of equally many problems of one shape; they depend on the shapes alone.

    A last group that would be short repeats its first problem: that is cheaper than compiling another size.
    """
    by_shape: dict[tuple[int, ...], list[int]] = {}
    for k, data in enumerate(datas):
        by_shape.setdefault(_shape(data), []).append(k)
    groups = []
    for shape, members in by_shape.items():
        n_train = round((1.0 - config.test_fraction) * shape[0])
        n_groups = math.ceil(len(members) / _group_capacity((n_train, *shape[1:]), config))
        size = math.ceil(len(members) / n_groups)
        for start in range(0, len(members), size):
            group = members[start : start + size]
            groups.append(group + group[:1] * (size - len(group)))
    return groups


def _shape(data: CIData) -> tuple[int, ...]:
    return (data.n, data.x.n_columns, data.y.n_columns, 0 if data.z is None else data.z.n_columns)


def _group_capacity(shape: tuple[int, ...], config: PaperConfig) -> int:
    n_rows, *columns = shape
    widths = sum(getattr(config, f"n_hidden_{net}") * getattr(config, f"layer_size_{net}") for net in "uvw")
    depth = max(getattr(config, f"layer_size_{net}") for net in "uvw")
    # Rows; activations and their gradients; parameters with gradient and two moments. Four bytes each.
    floats = 3 * n_rows * sum(columns) + 3 * min(config.batch_size, n_rows) * widths + 4 * widths * depth
    quickest = group_size(config, (columns[0], columns[1], columns[2]))
    return max(1, min(quickest, _GROUP_BYTES // (4 * floats)))
