"""Model prices, offline: the user's own, then the list that comes with genai-prices."""

from rookery.prices.book import (
    PriceBook,
    PriceFileError,
    price_file_path,
    price_file_problem,
    read_price_file,
)

__all__ = [
    "PriceBook",
    "PriceFileError",
    "price_file_path",
    "price_file_problem",
    "read_price_file",
]
