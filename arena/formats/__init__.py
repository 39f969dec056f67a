"""The formats of tournaments, and the pairing of ladders: functions of past results."""
