"""What was said in a session, and which view of it the model is sent."""
