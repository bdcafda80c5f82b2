from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from spectralcit import ci_test
from spectralcit.errors import (
    EmptyInputError,
    EncoderError,
    ImageError,
    LengthMismatchError,
    MissingValuesError,
    ParameterError,
    UnknownColumnError,
)
from spectralcit.imaging import RandomEncoder, Stains, TileTable, simulate_region, tile_table

from .making import PINK, VIOLET, unit

SIZE = 16


def colours(tiles):
    return tiles.mean(axis=(1, 2))


def regions(rng, densities, *, height=32, width=48):
    """A region per density of nuclei, of stains that differ from slide to slide."""
    found = []
    for density in densities:
        vectors = np.array([unit(VIOLET + rng.uniform(0, 0.1, 3)), unit(PINK + rng.uniform(0, 0.1, 3))])
        stains = Stains(vectors, np.array([1.6, 1.4]) * rng.uniform(0.7, 1.3, 2))
        found.append(
            simulate_region(rng, height=height, width=width, nuclei=density, radius=3.0, stains=stains)
        )
    return found


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    return tile_table(regions(rng, [0.2] * 5), ["c", "a", "c", "b", "a"], RandomEncoder(4), size=SIZE)


def test_every_tile_knows_whose_it_is(table):
    assert len(table) == 5 * 6
    assert table.patient_names == ["c", "a", "b"]
    assert "".join(table.patients) == "c" * 6 + "a" * 6 + "c" * 6 + "b" * 6 + "a" * 6
    np.testing.assert_array_equal(table.images, np.repeat(np.arange(5), 6))
    np.testing.assert_array_equal(table.tops[:6], [0, 0, 0, 16, 16, 16])
    np.testing.assert_array_equal(table.lefts[:6], [0, 16, 32, 0, 16, 32])


def test_the_mean_of_a_patient_does_not_depend_on_the_order_of_tiles(table):
    expected = {name: table.features[table.patients == name].mean(axis=0) for name in "abc"}
    np.testing.assert_allclose(table.means(), [expected[name] for name in table.patient_names])
    order = np.random.default_rng(1).permutation(len(table))
    parts = (table.features, table.patients, table.images, table.tops, table.lefts)
    shuffled = TileTable(*(part[order] for part in parts))
    np.testing.assert_allclose(shuffled.means(), [expected[name] for name in shuffled.patient_names])


def test_features_of_a_tile_are_those_of_its_pixels():
    rng = np.random.default_rng(2)
    images = regions(rng, [0.2, 0.3])
    table = tile_table(images, [7, 9], colours, size=SIZE, normalise=False)
    for row, image, top, left in zip(table.features, table.images, table.tops, table.lefts, strict=True):
        expected = images[image][top : top + SIZE, left : left + SIZE].mean(axis=(0, 1))
        np.testing.assert_allclose(row, expected)


def test_stains_are_made_alike_between_slides():
    """The same tissue on two slides: stained otherwise, and alike in its features afterwards."""
    strong = Stains(np.array([unit(VIOLET), unit(PINK)]), np.array([1.8, 1.1]))
    weak = Stains(np.array([unit((0.5, 0.8, 0.4)), unit((0.1, 0.9, 0.3))]), np.array([1.1, 0.8]))
    images = [simulate_region(np.random.default_rng(3), stains=each, nuclei=0.3) for each in (strong, weak)]
    gaps = []
    for normalise in (False, True):
        means = tile_table(images, [0, 1], colours, size=32, normalise=normalise).means()
        gaps.append(np.abs(means[0] - means[1]).max())
    assert gaps[0] > 20
    assert gaps[1] < 4


def test_images_come_from_files_too(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    images = regions(np.random.default_rng(4), [0.2, 0.3])
    paths = [tmp_path / f"{k}.png" for k in range(2)]
    for image, path in zip(images, paths, strict=True):
        Image.fromarray(image).save(path)
    masks = [None, np.arange(48) < np.full((32, 1), 16)]
    from_files = tile_table([paths[0], str(paths[1])], [0, 1], colours, size=SIZE, masks=masks)
    from_arrays = tile_table(images, [0, 1], colours, size=SIZE, masks=masks)
    np.testing.assert_array_equal(from_files.features, from_arrays.features)
    assert np.bincount(from_files.images).tolist() == [6, 2]


def test_values_of_patients_are_repeated_for_their_tiles(table):
    values = table.for_tiles({"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0})
    assert values.tolist() == [{"a": 1.0, "b": 2.0, "c": 3.0}[name] for name in table.patients]
    assert table.for_tiles({"a": (1, 2), "b": (3, 4), "c": (5, 6)}).shape == (30, 2)
    with pytest.raises(UnknownColumnError, match=r"nothing is known of patient 'c'.*2 in all"):
        table.for_tiles({"a": 1.0})


def test_labels_of_any_kind_stay_what_they_are():
    images = regions(np.random.default_rng(7), [0.2, 0.2])
    for labels in ([("north", 1), ("south", 1)], ["a", 1], [np.int64(4), np.int64(2)], [4, 2]):
        table = tile_table(images, labels, colours, size=SIZE)
        assert table.patient_names == labels
        assert table.patients.shape == (12,)
        np.testing.assert_array_equal(
            table.for_tiles(dict(zip(labels, (5, 6), strict=True))), [5] * 6 + [6] * 6
        )


def test_a_series_of_pandas_will_do_for_values_of_patients(table):
    pd = pytest.importorskip("pandas")
    values = pd.Series([1.0, 2.0, 3.0], index=["a", "b", "c"])
    np.testing.assert_array_equal(table.for_tiles(values), table.for_tiles(values.to_dict()))


def test_the_nearest_tiles_are_the_typical_ones(table):
    near = table.nearest(2)
    assert np.bincount(near.images).tolist() == [2] * 5
    own = table.features[table.images == 3]
    away = np.linalg.norm(own - own.mean(axis=0), axis=1)
    kept = near.features[near.images == 3]
    assert {tuple(row) for row in kept} == {tuple(own[k]) for k in np.argsort(away)[:2]}
    assert len(table.nearest(100)) == len(table)


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_a_frame_has_a_row_per_tile(table, backend):
    pytest.importorskip(backend)
    frame = table.to_frame(backend)
    assert list(frame.columns) == ["patient", "image", "top", "left", *(f"feature_{k}" for k in range(4))]
    np.testing.assert_array_equal(frame["feature_2"].to_numpy(), table.features[:, 2])


def test_errors_name_the_image_that_is_at_fault(tmp_path):
    images = regions(np.random.default_rng(5), [0.2, 0.2, 0.2])
    glass = np.full_like(images[0], 255)
    with pytest.raises(ImageError, match=r"^image 1 \(patient 'b'\) shows no tissue"):
        tile_table([images[0], glass], ["a", "b"], colours, size=SIZE)
    with pytest.raises(ImageError, match=r"there is no file .*lost\.png"):
        tile_table([images[0], tmp_path / "lost.png"], ["a", "b"], colours, size=SIZE)
    with pytest.raises(ImageError, match=r"the mask of image 0 \(patient 'a'\) is empty"):
        tile_table(images[:1], ["a"], colours, size=SIZE, masks=[np.zeros((32, 48), bool)])
    with pytest.raises(
        EncoderError, match=r"^image 0 \(patient 'a'\): the encoder gave an array of shape \(6,\)"
    ):
        tile_table(images[:1], ["a"], lambda tiles: np.ones(len(tiles)), size=SIZE)
    with pytest.raises(LengthMismatchError, match="there are 3 images, 2 patients"):
        tile_table(images, ["a", "b"], colours, size=SIZE)
    with pytest.raises(EmptyInputError, match="there are no images"):
        tile_table([], [], colours)
    calls = iter((3, 4))

    def growing(tiles):
        return np.ones((len(tiles), next(calls)))

    with pytest.raises(EncoderError, match="3 features for the tiles of image 0 and 4 for those of image 1"):
        tile_table(images[:2], ["a", "b"], growing, size=SIZE)


@pytest.mark.parametrize("patient", [None, float("nan")])
def test_an_image_of_nobody_is_an_error(patient):
    images = regions(np.random.default_rng(5), [0.2, 0.2])
    with pytest.raises(MissingValuesError, match="image 1 has no patient"):
        tile_table(images, ["a", patient], colours, size=SIZE)


def test_one_image_no_function_and_half_pixels_are_errors(tmp_path):
    image = regions(np.random.default_rng(5), [0.2])[0]
    for alone in (image, "slide.png", tmp_path / "slide.png"):
        with pytest.raises(ParameterError, match="for one image, a list of one"):
            tile_table(alone, ["a"], colours)
    with pytest.raises(EncoderError, match="encoder must be a function from tiles to features, got 5"):
        tile_table([image], ["a"], 5)
    with pytest.raises(ParameterError, match=r"whole numbers of at least 1, .*got 8\.5"):
        tile_table([image], ["a"], colours, size=8.5)


def test_from_slide_to_answer():
    """A gene that follows the nuclei and one that follows survival: by means, and by tiles in groups."""
    rng = np.random.default_rng(6)
    patients = [f"p{k}" for k in range(60)]
    nuclei = rng.uniform(0.05, 0.5, len(patients))
    table = tile_table(regions(rng, nuclei), patients, RandomEncoder(3, seed=1), size=SIZE)
    survival = 4 * nuclei + 0.5 * rng.normal(size=60)
    unrelated = rng.normal(size=60)
    related = survival + 0.3 * rng.normal(size=60)
    by_name = {
        name: dict(zip(patients, values, strict=True))
        for name, values in {"y": survival, "none": unrelated, "some": related}.items()
    }
    z = table.means()
    slopes = np.linalg.lstsq(np.column_stack([np.ones(60), z]), nuclei)[0]
    assert np.corrcoef(slopes[0] + z @ slopes[1:], nuclei)[0, 1] > 0.6  # the image tells the nuclei
    assert ci_test(unrelated, survival, z, random_state=0).pvalue > 0.01
    assert ci_test(related, survival, z, random_state=0).pvalue < 0.01
    y = table.for_tiles(by_name["y"])
    for name, dependent in {"none": False, "some": True}.items():
        x = table.for_tiles(by_name[name])
        result = ci_test(x, y, table.features, groups=table.patients, random_state=0)
        assert (result.pvalue < 0.01) == dependent, name


def test_heavy_packages_are_loaded_when_used():
    code = (
        "import sys, spectralcit.imaging; print({'PIL', 'onnxruntime', 'sklearn', 'jax'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
