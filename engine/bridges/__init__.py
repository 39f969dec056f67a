"""Bridges: programs that speak other protocols, made into bots without a change."""
