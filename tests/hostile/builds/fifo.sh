# Delivers a pipe, at which a reader would wait for ever.
printf '#!/bin/sh\n' > bot
mkfifo pipe
