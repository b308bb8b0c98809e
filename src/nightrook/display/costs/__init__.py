"""Reports of cost for people and programs: a table, a page, CSV and JSON."""
