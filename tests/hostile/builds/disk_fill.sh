# Fills its folder, and keeps what it deleted.
exec 3> hidden
rm hidden
head -c 200000000 /dev/urandom >&3
for number in 1 2 3 4 5 6 7 8; do
    head -c 60000000 /dev/urandom > "big$number"
done
exit 1
