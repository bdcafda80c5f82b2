"""The published SpectralCIT: features learned by the bi-level algorithm, and its test."""
