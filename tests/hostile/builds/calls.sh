# Asks for namespaces, mounts, power over other processes, and what concerns the whole machine.
. ./targets.sh
unshare --user --map-root-user true && echo "got a namespace"
mount -t tmpfs none . && echo "got a mount"
kill -9 "$REFEREE" "$CANARY" && echo "got a signal through"
renice -n -5 $$ && echo "got priority"
taskset -p 1 $$ && echo "got a core"
cat > calls.py <<'P'
import ctypes, os, struct
libc = ctypes.CDLL(None, use_errno=True)
for name, *words in (
    ("ptrace", 16, int(os.environ["CANARY"]), 0, 0),
    ("memfd_create", b"x", 0),
    ("inotify_init",),
    ("shmget", 0, 1 << 20, 0o1600),
):
    if getattr(libc, name)(*words) >= 0:
        print("got", name)
with open("calls.sh", "rb") as file:
    try:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        print("got a file out of the cache")
    except OSError:
        pass
# A filter of its own, which allows all; another would log each call.
code = ctypes.create_string_buffer(struct.pack("=HBBI", 6, 0, 0, 0x7FFF0000), 8)
filters = struct.pack("@HP", 1, ctypes.addressof(code))
if libc.prctl(38, 1, 0, 0, 0) == 0 == libc.prctl(22, 2, filters):
    print("got a filter")
P
CANARY=$CANARY python3 -S calls.py
echo tried
printf '#!/bin/sh\n' > bot
