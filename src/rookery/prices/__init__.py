"""Model prices: the user's own first, then the list that genai-prices ships. Offline, and lazy."""

from rookery.prices.book import PriceBook, PriceFileError, read_price_file

__all__ = ["PriceBook", "PriceFileError", "read_price_file"]
