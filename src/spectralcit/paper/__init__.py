"""SpectralCIT as published: features learned by the bi-level algorithm, and its test."""
