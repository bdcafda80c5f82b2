"""The spectral tests: features, statistic and null."""
