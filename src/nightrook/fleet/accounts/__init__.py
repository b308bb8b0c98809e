"""Accounts on the server of a fleet: keys, rights, certificates and the server's file."""
