"""Bots: taken in, entered, shared, tested first, suspended."""
