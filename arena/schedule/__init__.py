"""What is played next: jobs are made, leased to workers, decided about."""
