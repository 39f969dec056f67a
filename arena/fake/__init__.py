"""A large made-up arena."""
