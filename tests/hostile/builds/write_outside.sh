# Leaves notes wherever it can.
. ./targets.sh
for place in / /bin /usr /usr/lib /etc /dev /dev/shm /var/tmp /bot /root "$OPEN_FOLDER" "$CLOSED_FOLDER" "$SOURCES" "$SOURCES/.."; do
    if { echo x > "$place/left-behind"; } 2>/dev/null; then echo "wrote $place"; fi
    if { echo x >> "$place/canary"; } 2>/dev/null; then echo "changed $place"; fi
done
echo tried
printf '#!/bin/sh\n' > bot
