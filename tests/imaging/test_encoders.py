from __future__ import annotations

import sys

import numpy as np
import pytest

from spectralcit.errors import EncoderError, MissingExtraError
from spectralcit.imaging import OnnxEncoder, RandomEncoder, encode_tiles

MEAN, DEVIATION = np.array([0.5, 0.4, 0.3]), np.array([0.2, 0.25, 0.3])


@pytest.fixture
def tiles():
    return np.random.default_rng(3).integers(0, 256, (7, 8, 8, 3)).astype(np.uint8)


def test_any_function_encodes_and_batches_do_not_matter(tiles):
    def colours(batch):
        assert len(batch) <= 3
        return batch.mean(axis=(1, 2))

    np.testing.assert_allclose(encode_tiles(tiles, colours, batch=3), tiles.mean(axis=(1, 2)))
    random = RandomEncoder(9)
    np.testing.assert_allclose(encode_tiles(tiles, random, batch=2), random(tiles))


def test_lists_and_single_precision_become_double(tiles):
    found = encode_tiles(tiles, lambda batch: [[1, 2.5]] * len(batch))
    assert found.dtype == np.float64
    assert encode_tiles(tiles, lambda batch: np.ones((len(batch), 2), np.float32)).dtype == np.float64


@pytest.mark.parametrize(
    ("encoder", "words"),
    [
        (
            lambda batch: batch.mean(),
            r"an array of shape \(\) for 3 tiles; .* one row of\s+features per tile",
        ),
        (lambda batch: np.ones(len(batch)), r"shape \(3,\) for 3 tiles"),
        (lambda batch: np.ones((len(batch) - 1, 4)), r"shape \(2, 4\) for 3 tiles"),
        (lambda batch: np.ones((len(batch), 4, 2)), r"shape \(3, 4, 2\) for 3 tiles"),
        (lambda batch: np.ones((len(batch), 0)), r"shape \(3, 0\) for 3 tiles"),
        (lambda batch: [[1.0], [1.0, 2.0], [1.0]], "rows differ in length"),
        (lambda batch: [["a"]] * len(batch), "no array of numbers"),
        (lambda batch: np.full((len(batch), 2), np.nan), "feature 0 of the encoder is nan for tile 0"),
        (lambda batch: np.full((len(batch), 2), np.inf), "feature 0 of the encoder is inf for tile 0"),
        (lambda batch: np.ones((len(batch), 5 - len(batch))), "2 features for some tiles and 4 for others"),
    ],
)
def test_wrong_features_are_errors(tiles, encoder, words):
    with pytest.raises(EncoderError, match=words):
        encode_tiles(tiles, encoder, batch=3)


def test_random_features_follow_their_seed_and_see_each_tile_alone(tiles):
    first = RandomEncoder(6, seed=1)(tiles)
    np.testing.assert_array_equal(first, RandomEncoder(6, seed=1)(tiles))
    assert not np.allclose(first, RandomEncoder(6, seed=2)(tiles))
    np.testing.assert_allclose(RandomEncoder(6, seed=1)(tiles[3:4])[0], first[3])
    with pytest.raises(EncoderError, match="at least 4 pixels, not 3"):
        RandomEncoder()(tiles[:, :3, :3])


# --- files -------------------------------------------------------------------------------------------------


def write_colour_means(path, shape, *, kind="FLOAT", axes=(2, 3), keepdims=0):
    """An ONNX file whose features are the means of the colours."""
    onnx = pytest.importorskip("onnx")
    helper, element = onnx.helper, getattr(onnx.TensorProto, kind)
    nodes = [helper.make_node("Cast", ["tiles"], ["floats"], to=onnx.TensorProto.FLOAT)]
    constant = helper.make_tensor("axes", onnx.TensorProto.INT64, [len(axes)], list(axes))
    nodes.append(helper.make_node("ReduceMean", ["floats", "axes"], ["features"], keepdims=keepdims))
    rank = 4 if keepdims else 4 - len(axes)
    graph = helper.make_graph(
        nodes,
        "colour-means",
        [helper.make_tensor_value_info("tiles", element, shape)],
        [helper.make_tensor_value_info("features", onnx.TensorProto.FLOAT, [None] * rank)],
        [constant],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(model, path)
    return path


@pytest.mark.parametrize(
    ("shape", "axes", "keepdims"),
    [
        (["n", 3, 8, 8], (2, 3), 0),
        (["n", 3, "h", "w"], (2, 3), 1),
        (["n", 8, 8, 3], (1, 2), 0),
        ([3, 3, 8, 8], (2, 3), 0),  # three at a time, of seven
        ([1, 8, 8, 3], (1, 2), 0),
    ],
)
def test_an_onnx_file_encodes(tmp_path, tiles, shape, axes, keepdims):
    pytest.importorskip("onnxruntime")
    path = write_colour_means(tmp_path / "means.onnx", shape, axes=axes, keepdims=keepdims)
    encoder = OnnxEncoder(path, mean=MEAN, deviation=DEVIATION)
    expected = (tiles.mean(axis=(1, 2)) / 255 - MEAN) / DEVIATION
    np.testing.assert_allclose(encode_tiles(tiles, encoder, batch=5), expected, atol=1e-5)


def test_a_file_that_takes_8_bits_is_given_8_bits(tmp_path, tiles):
    pytest.importorskip("onnxruntime")
    path = write_colour_means(tmp_path / "bytes.onnx", ["n", 8, 8, 3], kind="UINT8", axes=(1, 2))
    np.testing.assert_allclose(encode_tiles(tiles, OnnxEncoder(path)), tiles.mean(axis=(1, 2)), rtol=1e-5)


def test_files_of_another_shape_are_errors(tmp_path, tiles):
    pytest.importorskip("onnxruntime")
    path = write_colour_means(tmp_path / "large.onnx", ["n", 3, 224, 224])
    with pytest.raises(
        EncoderError, match=r"large\.onnx takes tiles of 224 × 224 pixels, these have 8 × 8; .*size=224"
    ):
        OnnxEncoder(path)(tiles)
    path = write_colour_means(tmp_path / "grey.onnx", ["n", 1, 8, 8])
    with pytest.raises(
        EncoderError, match=r"grey\.onnx takes arrays of shape .*, not images of three colours"
    ):
        OnnxEncoder(path)
    path = write_colour_means(tmp_path / "maps.onnx", ["n", 3, 8, 8], axes=(3,))
    with pytest.raises(EncoderError, match=r"an array of shape \(7, 3, 8\) for 7 tiles"):
        encode_tiles(tiles, OnnxEncoder(path))
    with pytest.raises(EncoderError, match=r"has no output 'pooled'; its outputs: features"):
        OnnxEncoder(path, output="pooled")


def test_files_that_are_no_encoders_are_errors(tmp_path):
    pytest.importorskip("onnxruntime")
    (tmp_path / "notes.onnx").write_text("not a model")
    with pytest.raises(EncoderError, match=r"notes\.onnx cannot be read as an ONNX file"):
        OnnxEncoder(tmp_path / "notes.onnx")
    with pytest.raises(EncoderError, match=r"there is no file .*note\.onnx"):
        OnnxEncoder(tmp_path / "note.onnx")


def test_without_onnxruntime_the_error_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "model.onnx").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'spectralcit\[imaging\]'"):
        OnnxEncoder(tmp_path / "model.onnx")
