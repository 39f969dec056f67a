"""Who meets whom next: functions of past results."""
