# Fills the buffers of sockets, which are the kernel's memory and no process's.
. ./targets.sh
cat > bomb.py <<'P'
import os, socket, time
kept = []
for _ in range(8):
    if not os.fork():
        for _ in range(400):
            pair = socket.socketpair()
            kept.append(pair)
            for end in pair:
                end.setblocking(False)
                try:
                    while end.send(bytes(65536)):
                        pass
                except BlockingIOError:
                    pass
        time.sleep(2)
        os._exit(0)
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
P
python3 -I -S bomb.py "$MARKER"
printf '#!/bin/sh\n' > bot
