"""The home worker: matches of bots that run on their authors' machines."""
