//! What lowered code calls while it runs. Free of MLIR.
