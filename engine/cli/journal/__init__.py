"""What the journal has, from the command line: runs shown, forked, compared, exported and forgotten."""
