"""Which problems train together in one compiled loop."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..inputs import CIData
from .config import PaperConfig

__all__ = ["GROUP_SIZE", "groups_of_one_shape"]

GROUP_SIZE = 16  # by hand: beyond it the work of a step, not its overhead, decides how long it takes
# Most memory for rows, parameters and activations of a group. By hand: a fraction of a small machine's.
_GROUP_BYTES = 512 * 2**20


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
    return max(1, min(GROUP_SIZE, _GROUP_BYTES // (4 * floats)))
