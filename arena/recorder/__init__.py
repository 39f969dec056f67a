"""What takes results in: the one serial recorder, its queue and its tick."""
