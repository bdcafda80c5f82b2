import io
import json
import zipfile

import numpy as np
import pytest

from spectralcit.errors import FeatureFileError, InputError, MissingValuesError, ParameterError
from spectralcit.numeric.whiten import covariance
from spectralcit.paper.config import PaperConfig
from spectralcit.paper.features import LearnedFeatures, learn_features
from spectralcit.paper.problem import canonical_order
from spectralcit.paper.statistic import partial_cross_covariance

SMALL = PaperConfig(
    output_dim=3,
    n_hidden_u=1,
    n_hidden_v=1,
    n_hidden_w=1,
    layer_size_u=16,
    layer_size_v=16,
    layer_size_w=16,
    n_epochs=30,
    lr_inner=3e-3,
    lr_outer=1e-2,
    reg_str_outer=0.5,
)

# Long enough, with a penalty weak enough, to find two singular functions of an operator that is known.
THOROUGH = PaperConfig(
    output_dim=4,
    n_hidden_u=1,
    n_hidden_v=1,
    n_hidden_w=1,
    layer_size_u=32,
    layer_size_v=32,
    layer_size_w=32,
    lr_inner=1e-2,
    lr_outer=1e-2,
    reg_str_inner=0.3,
    reg_str_outer=0.3,
    batch_size=1000,
    n_epochs=60,
)


def gaussian(n, *, loading=0.0, partial=0.5, seed=0):
    """Standard normal X, Y with correlation `loading` to Z and partial correlation `partial`."""
    rng = np.random.default_rng(seed)
    z, e, noise = rng.normal(size=(3, n))
    f = partial * e + np.sqrt(1 - partial**2) * noise
    rest = np.sqrt(1 - loading**2)
    return loading * z + rest * e, loading * z + rest * f, z


def closed_form_singular_values(loading, partial, count):
    """Derived in docs/math-spectral-paper.md: sqrt(R^2k - r^2k), in decreasing order."""
    r2 = loading**2
    total = r2 + (1 - r2) * partial**2
    return sorted((np.sqrt(total**k - r2**k) for k in range(1, count + 5)), reverse=True)[:count]


@pytest.fixture(scope="module")
def learned():
    return learn_features(*gaussian(500, loading=0.5), SMALL, random_state=0)


@pytest.mark.parametrize("rho", [0.5, 0.8])
def test_singular_values_of_a_gaussian_pair_are_powers_of_the_correlation(rho):
    features = learn_features(*gaussian(20_000, partial=rho), THOROUGH, random_state=0)
    np.testing.assert_allclose(features.singular_values[:2], [rho, rho**2], atol=0.05)


def test_leading_singular_value_with_a_gaussian_confounder():
    expected = closed_form_singular_values(0.5, 0.7, 2)
    features = learn_features(*gaussian(20_000, loading=0.5, partial=0.7), THOROUGH, random_state=0)
    np.testing.assert_allclose(features.singular_values[:2], expected, atol=0.05)
    # The operator is blind to what Z alone explains: unconditionally the same pair looks stronger.
    x, y, _ = gaussian(20_000, loading=0.5, partial=0.7)
    assert np.corrcoef(x, y)[0, 1] > expected[0] + 0.1


def test_closed_form_is_the_norm_of_the_operator_on_polynomials():
    # Independent check of the derivation: regress polynomials of X on (Y, Z) and on Z in a huge sample.
    x, y, z = gaussian(400_000, loading=0.5, partial=0.7, seed=3)
    hermite = np.column_stack([x, (x**2 - 1) / np.sqrt(2), (x**3 - 3 * x) / np.sqrt(6)])
    powers = [(a, b) for a in range(4) for b in range(4) if a + b <= 3]
    yz = np.column_stack([y**a * z**b for a, b in powers])
    only_z = np.column_stack([z**b for b in range(4)])
    fits = [basis @ np.linalg.lstsq(basis, hermite, rcond=None)[0] for basis in (yz, only_z)]
    difference = fits[0] - fits[1]
    values = np.sqrt(np.linalg.eigvalsh(difference.T @ difference / len(x)))[::-1]
    np.testing.assert_allclose(values, closed_form_singular_values(0.5, 0.7, 3), atol=0.02)


def test_features_are_white_on_the_training_rows(learned):
    x, y, z = gaussian(500, loading=0.5)
    u, v, w = learned.u(x), learned.v(y, z), learned.w(z)
    assert (u.shape, v.shape, w.shape) == ((500, 3), (500, 3), (500, 6))
    for block in (u, v, w):
        assert block.dtype == np.float64
        np.testing.assert_allclose(block.mean(axis=0), 0.0, atol=1e-8)
        # At most one, and one for every direction that is not degenerate.
        eigenvalues = np.linalg.eigvalsh(covariance(block))
        assert eigenvalues[-1] == pytest.approx(1.0, abs=1e-3)


def test_singular_values_are_those_of_the_features(learned):
    x, y, z = gaussian(500, loading=0.5)
    matrix = partial_cross_covariance(learned.u(x), learned.v(y, z), learned.w(z))
    np.testing.assert_allclose(learned.singular_values, np.linalg.svd(matrix)[1], atol=1e-10)


def test_row_order_does_not_matter():
    x, y, z = gaussian(300)
    order = np.random.default_rng(1).permutation(300)
    first = learn_features(x, y, z, SMALL, random_state=0)
    second = learn_features(x[order], y[order], z[order], SMALL, random_state=0)
    np.testing.assert_array_equal(first.u(x[:5]), second.u(x[:5]))


def test_canonical_order_breaks_ties_by_the_other_columns():
    rng = np.random.default_rng(0)
    x, y, z = rng.integers(0, 3, size=(3, 200, 2)).astype(float)
    order = rng.permutation(200)
    rows = np.hstack([x, y, z])
    first, second = canonical_order(x, y, z), canonical_order(x[order], y[order], z[order])
    np.testing.assert_array_equal(rows[first], rows[order][second])


def test_without_z():
    x, y, _ = gaussian(500, partial=0.8)
    features = learn_features(x, y, config=SMALL, random_state=0)
    assert not features.conditional
    assert features.v(y).shape == (500, 3)
    with pytest.raises(ParameterError, match="without z"):
        features.w(x)
    with pytest.raises(ParameterError, match="without z"):
        features.v(y, x)


def test_wrong_columns_are_refused(learned):
    x, y, z = gaussian(10)
    with pytest.raises(InputError, match="2 columns"):
        learned.u(np.column_stack([x, x]))
    with pytest.raises(ParameterError, match="needs it"):
        learned.v(y)
    with pytest.raises(ParameterError, match="10 rows and z has 4"):
        learned.v(y, z[:4])
    with pytest.raises(InputError, match="holds categories"):
        learned.u(["a", "b"])
    with pytest.raises(MissingValuesError):
        learned.w([1.0, np.nan])
    with pytest.raises(InputError, match="rescale"):
        learned.u([1.0, 1e200])


def test_categories_keep_their_columns():
    rng = np.random.default_rng(0)
    z = rng.choice(["a", "b", "c"], size=300)
    x, y = rng.normal(size=(2, 300))
    features = learn_features(x, y, z, SMALL, random_state=0)
    everything = {level: features.w(z)[np.argmax(z == level)] for level in "abc"}
    # Alone, "c" would be encoded as the only level; the codebook knows better.
    np.testing.assert_allclose(features.w(["c"])[0], everything["c"])
    np.testing.assert_allclose(features.w(["b", "a"])[1], everything["a"])


def test_save_and_load_are_exact(learned, tmp_path):
    x, y, z = gaussian(50, seed=8)
    path = tmp_path / "features.bin"
    learned.save(path)
    back = LearnedFeatures.load(path)
    np.testing.assert_array_equal(back.u(x), learned.u(x))
    np.testing.assert_array_equal(back.v(y, z), learned.v(y, z))
    np.testing.assert_array_equal(back.w(z), learned.w(z))
    np.testing.assert_array_equal(back.singular_values, learned.singular_values)
    assert (back.config, back.seed, back.codebooks) == (learned.config, learned.seed, learned.codebooks)
    assert [each.name for each in tmp_path.iterdir()] == ["features.bin"]


def test_save_and_load_without_z_and_with_categories(tmp_path):
    rng = np.random.default_rng(0)
    x, y = rng.choice(["u", "v"], size=200), rng.normal(size=200)
    features = learn_features(x, y, config=SMALL, random_state=0)
    features.save(tmp_path / "f")
    back = LearnedFeatures.load(tmp_path / "f")
    np.testing.assert_array_equal(back.u(["v", "u"]), features.u(["v", "u"]))
    assert not back.conditional


def test_there_is_no_pickle_in_the_file(learned, tmp_path):
    learned.save(tmp_path / "f")
    with zipfile.ZipFile(tmp_path / "f") as archive:
        for name in archive.namelist():
            array = np.load(io.BytesIO(archive.read(name)), allow_pickle=False)
            assert array.dtype.kind in "fU"


def test_a_truncated_file_is_an_error_wherever_it_ends(learned, tmp_path):
    learned.save(tmp_path / "whole")
    content = (tmp_path / "whole").read_bytes()
    for length in [0, 1, 10, 100, len(content) // 2, len(content) - 100, len(content) - 1]:
        (tmp_path / "part").write_bytes(content[:length])
        with pytest.raises(FeatureFileError, match="part is not a complete feature file"):
            LearnedFeatures.load(tmp_path / "part")


def test_a_changed_byte_is_noticed(learned, tmp_path):
    learned.save(tmp_path / "whole")
    content = bytearray((tmp_path / "whole").read_bytes())
    # In the middle of the largest array: fields of the archive such as times of writing do not matter.
    with np.load(tmp_path / "whole") as archive:
        values = max((archive[name] for name in archive.files), key=lambda array: array.nbytes).tobytes()
    content[content.index(values) + len(values) // 2] ^= 0xFF
    (tmp_path / "changed").write_bytes(content)
    with pytest.raises(FeatureFileError):
        LearnedFeatures.load(tmp_path / "changed")


def rewritten(path, **changes):
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    header = json.loads(str(arrays["header"])) | changes
    arrays["header"] = np.array(json.dumps(header))
    with open(path, "wb") as stream:
        np.savez(stream, **arrays)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"format": "other"}, "format is 'other'"),
        ({"version": 99}, "version 99"),
        ({"maps": {}}, "no map u"),
        ({"config": {"output_dim": -1}}, "output_dim"),
        ({"config": {"unheard_of": 1}}, "unheard_of"),
    ],
)
def test_another_format_or_version_is_an_error(learned, tmp_path, changes, message):
    learned.save(tmp_path / "f")
    rewritten(tmp_path / "f", **changes)
    with pytest.raises(FeatureFileError, match=message):
        LearnedFeatures.load(tmp_path / "f")


def test_foreign_files_are_errors(tmp_path):
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    np.save(tmp_path / "single.npy", np.zeros(3))
    np.savez(tmp_path / "pickled.npz", header=np.array([{"a": 1}], dtype=object))
    (tmp_path / "text.txt").write_text("not an archive")
    for path in tmp_path.iterdir():
        with pytest.raises(FeatureFileError):
            LearnedFeatures.load(path)
    with pytest.raises(FileNotFoundError):
        LearnedFeatures.load(tmp_path / "nowhere")


def test_a_failed_save_leaves_the_old_file_and_no_rest(learned, tmp_path, monkeypatch):
    path = tmp_path / "f"
    path.write_bytes(b"old")

    def fail(*_, **__):
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(OSError, match="disk full"):
        learned.save(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
