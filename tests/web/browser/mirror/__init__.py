"""An agent that writes the neutral events themselves, so that a test can put anything into them."""
