"""The version of this package: imported by everything that records or shows it."""

__version__ = "0.1.0"
