"""How an arena is run: its processes, brokers, health, backups."""
