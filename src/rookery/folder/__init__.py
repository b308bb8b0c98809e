"""Opens what agents wrote: recorded streams and, later, run folders."""
