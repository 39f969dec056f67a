# Delivers more than is taken.
for number in 1 2 3; do
    head -c 30000000 /dev/urandom > "big$number"
done
printf '#!/bin/sh\n' > bot
