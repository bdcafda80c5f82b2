"""Measures of dependence that resampling tests compare with their draws."""
