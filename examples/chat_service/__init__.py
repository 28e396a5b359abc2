"""A chat service around one engine: several customers, an event stream, approvals. To be copied."""
