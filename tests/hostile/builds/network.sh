# Calls home.
. ./targets.sh
cat > call.py <<'P'
import os, socket
for family, address in (
    (socket.AF_INET, ("127.0.0.1", int(os.environ["PORT"]))),
    (socket.AF_UNIX, os.environ["SOCKET"]),
    (socket.AF_UNIX, "\0" + os.environ["ABSTRACT"]),
):
    try:
        with socket.socket(family) as call:
            call.connect(address)
        print("reached", address)
    except OSError as error:
        print(error)
P
PORT=$PORT SOCKET=$SOCKET ABSTRACT=$ABSTRACT python3 -S call.py
echo tried
printf '#!/bin/sh\n' > bot
