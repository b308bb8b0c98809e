"""Settings: their names and types, their files, and the ones that apply.

Only `cli` reads them, except for those in `user_settings.py`.
"""
