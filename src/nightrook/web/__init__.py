"""The server of the web page: shows every run live, and answers the questions of agents."""
