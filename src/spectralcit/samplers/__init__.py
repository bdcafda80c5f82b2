"""Models that draw X given Z: a user's own, fitted ones, and learned generators."""
