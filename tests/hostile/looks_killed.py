"""Leaves with an exit code that a shell would take for a signal of somebody else."""

import os

from frame import play

play(lambda: os._exit(128 + 9))
