# Writes to a folder that it may enter and not list, so that its own user can't look into it.
umask 0477
mkdir hidden
for number in 1 2 3; do
  head -c 60000000 /dev/urandom > hidden/$number
done
sleep 1
printf '#!/bin/sh\n' > bot
