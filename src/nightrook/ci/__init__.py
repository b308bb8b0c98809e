"""What CI services show of a run, a loop or a batch: groups, annotations, summaries and outputs.

It reads reports, which `display` makes of a run's state, and writes what each service documents.
"""
