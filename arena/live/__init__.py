"""Matches while they are played, told ply by ply to whoever watches."""
