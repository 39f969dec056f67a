"""What is known and shown: submissions, ladders, ratings, tournaments, pages, commands."""
