"""Ends by a fault of its own making."""

import os

from frame import play

play(os.abort)
