# Asks for namespaces, mounts, and power over other processes.
. ./targets.sh
unshare --user --map-root-user true && echo "got a namespace"
mount -t tmpfs none . && echo "got a mount"
kill -9 "$REFEREE" "$CANARY" && echo "got a signal through"
renice -n -5 $$ && echo "got priority"
taskset -p 1 $$ && echo "got a core"
cat > calls.py <<'P'
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for name, *words in (
    ("ptrace", 16, int(os.environ["CANARY"]), 0, 0),
    ("memfd_create", b"x", 0),
    ("inotify_init",),
    ("shmget", 0, 1 << 20, 0o1600),
):
    if getattr(libc, name)(*words) >= 0:
        print("got", name)
P
CANARY=$CANARY python3 -S calls.py
echo tried
printf '#!/bin/sh\n' > bot
