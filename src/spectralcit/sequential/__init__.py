"""A test for rows that come in batches, valid whenever one looks."""

from .test import SequentialCI

__all__ = ["SequentialCI"]
