"""Positions that people look into, and what bots are asked about them."""
