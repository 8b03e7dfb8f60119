# Source this file (`. tools/env.sh`) to see what tools/setup laid down: it exports where the CUDA tools and, on systems
# without Debian's llvm-22 packages, the LLVM prefix are. Variables that are already set win.

tinymlir_cache="${TINYMLIR_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tinymlir}"

# ptxas and libdevice. The tools look here by themselves; the export serves other programs.
if [ -z "${TINYMLIR_CUDA_TOOLKIT:-}" ] && [ -e "$tinymlir_cache/cuda-12.6.85/nvvm/libdevice/libdevice.10.bc" ]; then
    export TINYMLIR_CUDA_TOOLKIT="$tinymlir_cache/cuda-12.6.85"
fi

# LLVM and MLIR 22 from the Python wheels. `.cargo/config.toml` names Debian's prefix; the environment overrides it.
if [ -z "${MLIR_SYS_220_PREFIX:-}" ] && [ -e "$tinymlir_cache/llvm-22.1.8/.complete" ] &&
    { [ "${TINYMLIR_SETUP_LLVM:-}" = wheels ] || [ ! -x /usr/lib/llvm-22/bin/llvm-config ]; }; then
    export MLIR_SYS_220_PREFIX="$tinymlir_cache/llvm-22.1.8"
    export LIBCLANG_PATH="${LIBCLANG_PATH:-$MLIR_SYS_220_PREFIX/lib}"
    # The wheel of libclang has no C headers of its own.
    export BINDGEN_EXTRA_CLANG_ARGS="${BINDGEN_EXTRA_CLANG_ARGS:--I$(c++ -print-file-name=include)}"
    # `cargo test` finds lit and FileCheck here.
    export PATH="$MLIR_SYS_220_PREFIX/bin:$PATH"
fi
