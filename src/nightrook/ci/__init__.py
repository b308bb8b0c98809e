"""Output for CI services of a run, a loop or a batch: groups, annotations, summaries and values.

It reads reports, which `display` makes of a run's state, and writes what each service documents.
"""
