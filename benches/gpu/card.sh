#!/usr/bin/env bash
# Run on a machine with an NVIDIA GPU what benches/gpu/pack.sh packed: the checks that need a card, and timings.
# It needs Python 3, and compute-sanitizer for the part that checks memory; no LLVM, no compiler, no network.
#
# usage: card.sh      (OUT: the folder for logs, at most eight files [default: card-out]; CARD_ONLY: groups to run, of runtime,
#                      verify, six, reported, torch, timing, sanitizer [default: all]; CARD_BUDGET: seconds [default: 440])
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
for archive in "$here/card.tar.xz" "$here/../../.card/card.tar.xz" .card/card.tar.xz; do [ ! -e "$archive" ] || break; done
[ -e "$archive" ] || { echo "error: there is no .card/card.tar.xz (benches/gpu/pack.sh makes it)" >&2; exit 1; }
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$archive" "$folder"
python3 "$folder/card/card.py" "$folder/card" "${OUT:-card-out}"
