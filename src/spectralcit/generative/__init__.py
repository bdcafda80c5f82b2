"""Networks that learn to draw X given Z, for tests that need draws under the null hypothesis.

One file per kind of network; each offers a ``train_...`` function that returns a `ConditionalSampler`. Import
from the files themselves: they need JAX, this one does not.
"""
