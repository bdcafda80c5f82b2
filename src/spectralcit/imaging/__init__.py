"""From slide to table: tiles of images, stains made alike, features of an encoder, rows of patients."""

from .encoders import OnnxEncoder, RandomEncoder, encode_tiles
from .pictures import read_image, tissue_mask
from .simulated import simulate_region
from .slides import TileTable, tile_table
from .stains import REFERENCE_STAINS, Stains, fit_stains, normalise_stains
from .tiles import Tiles, cut_tiles

__all__ = [
    "REFERENCE_STAINS",
    "OnnxEncoder",
    "RandomEncoder",
    "Stains",
    "TileTable",
    "Tiles",
    "cut_tiles",
    "encode_tiles",
    "fit_stains",
    "normalise_stains",
    "read_image",
    "simulate_region",
    "tile_table",
    "tissue_mask",
]
