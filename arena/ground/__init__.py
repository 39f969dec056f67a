"""What all rooms stand on: settings, the database, locks, texts, names, refusals."""
