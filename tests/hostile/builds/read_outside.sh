# Copies what it can read of the host into its log.
. ./targets.sh
for file in /etc/passwd /etc/shadow /proc/1/environ /proc/self/status /root/.bashrc "$OPEN_FOLDER/canary" "$CLOSED_FOLDER/canary"; do
    if { read -r line < "$file"; } 2>/dev/null; then echo "read $file: $line"; fi
done
env
echo tried
printf '#!/bin/sh\n' > bot
