"""The `offing` command."""
