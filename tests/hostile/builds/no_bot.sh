# Delivers nothing to run.
true
