"""The server of the web page: shows every run live, and answers what agents ask."""
