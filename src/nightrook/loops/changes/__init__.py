"""What an iteration changed in the working folder, according to git or to a list of files."""
