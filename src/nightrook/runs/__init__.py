"""One run of an agent: started, followed, limited, answered, ended and judged."""
