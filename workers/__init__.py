"""Runs strangers' code: boxes, bundles and the workers' tasks. Knows no database."""
