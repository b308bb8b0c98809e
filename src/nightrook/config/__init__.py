"""Settings: what there are, where they are kept, and which of them apply.

Only `cli` reads them, except for those in `user_settings.py`.
"""
