"""Settings: what there are, where they are kept, and which of them apply. Only `cli` reads them."""
