# Sleeps.
. ./targets.sh
sh -c 'trap "" TERM HUP INT; sleep 1000' "$MARKER"
