"""`offing chat`: talking with a session, in turns."""
