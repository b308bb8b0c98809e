"""Model prices, offline: the user's own, then the list that comes with genai-prices."""

from nightrook.prices.book import PriceBook
from nightrook.prices.fast import fast_factor
from nightrook.prices.own_file import (
    PriceFileError,
    price_file_path,
    price_file_problem,
    read_price_file,
)
from nightrook.prices.price_list import list_version

__all__ = [
    "PriceBook",
    "PriceFileError",
    "fast_factor",
    "list_version",
    "price_file_path",
    "price_file_problem",
    "read_price_file",
]
