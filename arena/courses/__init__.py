"""Courses: what is handed in, what mark it gets, and whose work is alike."""
