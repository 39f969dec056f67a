"""Sends what waits to be sent: mail, and messages to hooks."""
