"""The dashboard: server-rendered pages on the arena's database."""
