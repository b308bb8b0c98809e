"""Git for runs and loops: started so that it runs nothing else, and held to one repository."""
