"""Starts threads until it can't, with stacks so small that no limit of memory stops it."""

import threading
import time

from frame import play


def attack():
    threading.stack_size(1 << 16)
    count = 0
    while count < 400:
        try:
            threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        except RuntimeError:
            break
        count += 1
    return f"threads {count}"


play(attack)
