# Delivers more files than are taken.
python3 -S -c '
for number in range(2000):
    open(str(number), "w").close()
'
printf '#!/bin/sh\n' > bot
