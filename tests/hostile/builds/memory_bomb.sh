# Takes memory in many processes, none of them large, and goes on if some are killed.
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
    python3 -S -c 'import time; x = b"x" * (24 << 20); time.sleep(2)' &
done
wait
while :; do sleep 1; done
