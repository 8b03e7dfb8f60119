// RUN: tinymlir-opt %s --tinymlir-emulate-gpu -split-input-file -verify-diagnostics

module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @warpgroup() attributes {gpu.kernel, nvvm.kernel} {
      // expected-error @below {{'nvvm.wgmma.fence.aligned' op cannot be emulated: the instruction needs a card (a chip before sm_90 has kernels without those of warpgroups)}}
      nvvm.wgmma.fence.aligned
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @assembly() attributes {gpu.kernel, nvvm.kernel} {
      // expected-error @below {{'llvm.inline_asm' op cannot be emulated: inline assembly needs a card}}
      llvm.inline_asm has_side_effects "exit;", "" : () -> ()
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @mystery(!llvm.ptr, !llvm.ptr) -> i32
    llvm.func @prints(%a: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      // expected-error @below {{'llvm.call' op cannot be emulated: nothing defines @mystery}}
      %r = llvm.call @mystery(%a, %a) : (!llvm.ptr, !llvm.ptr) -> i32
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @clock(%a: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      // expected-error @below {{'nvvm.read.ptx.sreg.clock' op cannot be emulated: it reads a register that only a card has}}
      %r = nvvm.read.ptx.sreg.clock : i32
      llvm.store %r, %a : i32, !llvm.ptr
      llvm.return
    }
  }
}

// -----

// expected-error @below {{'llvm.func' op cannot be emulated: @mgpuTensorMapEncodeTiledMemref needs a card}}
llvm.func @mgpuTensorMapEncodeTiledMemref(i64) -> !llvm.ptr

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @outlined() kernel {
      gpu.return
    }
  }
  func.func @main() {
    %c1 = arith.constant 1 : index
    // expected-error @below {{'gpu.launch_func' op cannot be emulated: @kernels::@outlined is no kernel in the NVVM dialect (run tinymlir-lower-gpu{format=nvvm} first)}}
    gpu.launch_func @kernels::@outlined blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

// More bytes than a number of 64 bits counts, and more than a block has.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    // expected-error @below {{'llvm.mlir.global' op cannot be emulated: its size is not known, or more than a block's shared memory}}
    llvm.mlir.global internal @huge() {addr_space = 3 : i32} : !llvm.array<9223372036854775807 x array<4 x f32>>
    llvm.func @uses() attributes {gpu.kernel, nvvm.kernel} {
      %a = llvm.mlir.addressof @huge : !llvm.ptr<3>
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // expected-error @below {{'llvm.mlir.global' op cannot be emulated: its size is not known, or more than a block's shared memory}}
    llvm.mlir.global internal @large() {addr_space = 3 : i32} : !llvm.array<1048577 x i8>
    llvm.func @uses() attributes {gpu.kernel, nvvm.kernel} {
      %a = llvm.mlir.addressof @large : !llvm.ptr<3>
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @wide(%a: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      // expected-error @below {{'llvm.load' op cannot be emulated: no thread has so many elements}}
      %v = llvm.load %a : !llvm.ptr -> vector<4611686018427387904xf32>
      llvm.return
    }
  }
}
