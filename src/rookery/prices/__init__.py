"""Model prices, offline: the user's own, then the list that comes with genai-prices."""

from rookery.prices.book import PriceBook
from rookery.prices.fast import fast_factor
from rookery.prices.own_file import (
    PriceFileError,
    price_file_path,
    price_file_problem,
    read_price_file,
)
from rookery.prices.price_list import list_version

__all__ = [
    "PriceBook",
    "PriceFileError",
    "fast_factor",
    "list_version",
    "price_file_path",
    "price_file_problem",
    "read_price_file",
]
