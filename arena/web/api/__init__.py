"""The API under /api/v1: what the pages show and do, for programs."""
