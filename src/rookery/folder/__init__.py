"""Opens what agents wrote: recorded streams and run folders."""
