"""How long a loop waits: until a provider's limit ends, or longer after each failure."""
