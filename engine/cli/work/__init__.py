"""Working on requests from the command line: begin, go on, talk, and what people say to a run."""
