"""Starts a bridge (see `engine.bridges.command`)."""

from engine.bridges.command import main

if __name__ == "__main__":
    main()
