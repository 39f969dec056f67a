# Leaves folders in folders, deeper than a path can name.
. ./targets.sh
deep() { printf 'd/%.0s' $(seq 1 1900); }
mkdir -p "$(deep)"
cd "$(deep)" && mkdir -p "$(deep)"
sleep 0.1
