"""Setting up, from the command line: a configuration to begin with, and completion for the shell."""
