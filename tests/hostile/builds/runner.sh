# A process that is never the same for long: each forks the next and ends.
. ./targets.sh
cat > runner.py <<'P'
import os, time
while True:
    if os.fork():
        os._exit(0)
P
setsid python3 -I -S runner.py "$MARKER" </dev/null >/dev/null 2>&1 &
sleep 0.2
printf '#!/bin/sh\n' > bot
