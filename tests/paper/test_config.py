import dataclasses
import inspect

import numpy as np
import pytest

from spectralcit.errors import ParameterError
from spectralcit.paper.config import PaperConfig
from spectralcit.paper.test import PaperSpectralCIT


def test_defaults_are_the_papers_reference_values():
    config = PaperConfig()
    assert config.output_dim == 10
    assert (config.lr_inner, config.lr_outer) == (3e-5, 2.1e-3)
    assert (config.reg_str_inner, config.reg_str_outer) == (3.3, 1.9)
    assert (config.n_epochs, config.n_warmup, config.n_steps_inner) == (400, 100, 1)
    assert config.test_fraction == 0.2
    assert config.perc_dim_prune == 1.0
    assert config.regularizer == "frobenius"


def test_every_name_of_the_papers_table_is_there():
    table = [
        "output_dim",
        "perc_dim_prune",
        "lr_inner",
        "lr_outer",
        "reg_str_inner",
        "reg_str_outer",
        "batch_size",
    ]
    table += [f"{stem}_{net}" for stem in ("n_hidden", "layer_size") for net in "uvw"]
    assert set(table) <= set(PaperConfig.names())


def test_the_test_takes_the_same_names_with_the_same_defaults():
    parameters = inspect.signature(PaperSpectralCIT).parameters
    for field in dataclasses.fields(PaperConfig):
        assert parameters[field.name].default == field.default, field.name


def test_it_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        PaperConfig().output_dim = 3


@pytest.mark.parametrize(
    "name, value",
    [
        ("output_dim", 0),
        ("output_dim", 2.5),
        ("output_dim", True),
        ("output_dim", "ten"),
        ("n_hidden_u", -1),
        ("layer_size_w", 0),
        ("batch_size", 0),
        ("n_epochs", 0),
        ("n_warmup", -1),
        ("n_steps_inner", 0),
        ("lr_inner", 0.0),
        ("lr_outer", -1e-3),
        ("lr_outer", float("nan")),
        ("lr_outer", "fast"),
        ("reg_str_inner", -1.0),
        ("reg_str_outer", float("inf")),
        ("perc_dim_prune", 0.0),
        ("perc_dim_prune", 1.1),
        ("test_fraction", 0.0),
        ("test_fraction", 1.0),
        ("clip_norm", 0.0),
        ("clip_norm", [5.0]),
        ("regularizer", "ridge"),
        ("weight_init", "zeros"),
    ],
)
def test_bad_values_are_refused_by_name(name, value):
    with pytest.raises(ParameterError, match=name):
        PaperConfig(**{name: value})


def test_numpy_scalars_and_no_clipping_are_fine():
    config = PaperConfig(output_dim=np.int64(4), lr_outer=np.float32(0.5), clip_norm=None, n_hidden_u=0)
    assert config.output_dim == 4
