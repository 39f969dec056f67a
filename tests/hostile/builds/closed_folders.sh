# Leaves folders that their own user can't empty.
umask 0477
mkdir $(seq 99)
for number in $(seq 99); do
  : > $number/file
done
printf '#!/bin/sh\n' > bot
