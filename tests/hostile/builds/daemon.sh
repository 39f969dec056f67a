# Leaves a process behind that is deaf to signals, and delivers a bot.
. ./targets.sh
setsid sh -c 'trap "" HUP TERM INT; while :; do sleep 1000; done' "$MARKER" </dev/null >/dev/null 2>&1 &
printf '#!/bin/sh\n' > bot
