//! The dialects that passes run inside a pass may create: nothing loads those by itself.

use mlir_sys::*;

/// Every dialect between tensors and LLVM.
pub const EVERY: &[unsafe extern "C" fn() -> MlirDialectHandle] = &[
    mlirGetDialectHandle__affine__,
    mlirGetDialectHandle__arith__,
    mlirGetDialectHandle__bufferization__,
    mlirGetDialectHandle__cf__,
    mlirGetDialectHandle__complex__,
    mlirGetDialectHandle__func__,
    mlirGetDialectHandle__gpu__,
    mlirGetDialectHandle__index__,
    mlirGetDialectHandle__linalg__,
    mlirGetDialectHandle__llvm__,
    mlirGetDialectHandle__math__,
    mlirGetDialectHandle__memref__,
    mlirGetDialectHandle__nvgpu__,
    mlirGetDialectHandle__nvvm__,
    mlirGetDialectHandle__scf__,
    mlirGetDialectHandle__shape__,
    mlirGetDialectHandle__tensor__,
    mlirGetDialectHandle__tosa__,
    mlirGetDialectHandle__ub__,
    mlirGetDialectHandle__vector__,
];
