"""What an engine is made of, from the command line: models, namespaces, skills."""
