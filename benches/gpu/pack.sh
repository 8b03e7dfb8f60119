#!/usr/bin/env bash
# Pack what benches/gpu/card.sh runs on a machine with an NVIDIA GPU into .card/: one static executable with the tools, libdevice,
# the runtime's CUDA tests, lit, and the tests and models of this repository.
#
# usage: benches/gpu/pack.sh [PROFILE]      (default: release; dev builds faster)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
profile="${1:-release}"
prefix="${MLIR_SYS_220_PREFIX:-/usr/lib/llvm-22}"
toolkit="${TINYMLIR_CUDA_TOOLKIT:-${XDG_CACHE_HOME:-$HOME/.cache}/tinymlir/cuda-12.6.85}"
built="${CARGO_TARGET_DIR:-target}/${profile/#dev/debug}"
# mold folds equal functions, which the LLVM archives are full of.
fold=()
! command -v mold >/dev/null || fold=(-C link-arg=-fuse-ld=mold -C link-arg=-Wl,--icf=all,--gc-sections)
cargo rustc --profile "$profile" --package tinymlir-tools --bin tinymlir --features diff -- -C strip=symbols "${fold[@]}"
tests="$(cargo test --profile "$profile" --package tinymlir-runtime --test cuda --no-run --message-format=json |
    python3 -c 'import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("executable"): print(message["executable"])')"

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
card="$scratch/card"
mkdir -p "$card"/{bin,tests,lit,models,toolkit/nvvm/libdevice}
strip -o "$card/bin/tinymlir" "$built/tinymlir"
for tool in tinymlir-opt tinymlir-runner tinymlir-gpt2 tinymlir-diff FileCheck; do ln -s tinymlir "$card/bin/$tool"; done
printf '#!/bin/sh\n[ "$(wc -l)" -eq "$1" ]\n' > "$card/bin/count"
chmod +x "$card/bin/count"
strip -o "$card/tests/cuda" "$tests"
cp "$toolkit/nvvm/libdevice/libdevice.10.bc" "$card/toolkit/nvvm/libdevice/"
cp -r "$prefix/utils/lit/lit" "$card/lit/lit"
cp -r models/kjv "$card/models/"
cp -r test lit.cfg "$card/"
cp benches/gpu/card.py "$card/"
git rev-parse --short HEAD > "$card/COMMIT"
find "$card" -name __pycache__ -prune -exec rm -r {} +
chmod -R u+w "$card"
mkdir -p .card
tar --create --directory "$scratch" card | xz -T0 -3 > .card/card.tar.xz.part
mv .card/card.tar.xz.part .card/card.tar.xz
cp benches/gpu/card.sh .card/
echo "pack: .card/card.tar.xz, $(stat -c %s .card/card.tar.xz) bytes"
