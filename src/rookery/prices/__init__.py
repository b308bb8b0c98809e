"""Model prices, offline: the user's own, then the list that comes with genai-prices."""

from rookery.prices.book import PriceBook, PriceFileError, read_price_file

__all__ = ["PriceBook", "PriceFileError", "read_price_file"]
