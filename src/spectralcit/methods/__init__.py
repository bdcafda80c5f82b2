"""Conditional independence tests other than SpectralCIT, one file per test."""
