"""The kinds of systems that a configuration can name: a shape and a small function each."""
