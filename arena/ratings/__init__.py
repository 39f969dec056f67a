"""What past results say about strength: pure functions, no web, no database, no queue."""
