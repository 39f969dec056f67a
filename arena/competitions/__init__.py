"""The kinds of competitions: how each is made and changed, and what it wants to be played."""
