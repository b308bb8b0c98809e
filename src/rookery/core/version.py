"""The version of this package; the one place that tells it."""

__version__ = "0.1.0"
