# Writes megabytes of log, control characters among them.
head -c 50000000 /dev/urandom || true
printf '#!/bin/sh\n' > bot
