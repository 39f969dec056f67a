"""Plays games between bots: rules, referee, records. Standard library only."""
