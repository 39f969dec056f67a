# Writes hundreds of megabytes of log, control characters among them.
head -c 300000000 /dev/urandom || true
printf '#!/bin/sh\n' > bot
