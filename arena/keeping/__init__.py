"""How records of games are kept: packed in their rows, and later, cold, in files of their days."""
