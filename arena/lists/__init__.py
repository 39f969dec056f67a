"""Lists of games: what they are filtered by, and how games are found by it."""
