// RUN: tinymlir-opt %s --tinymlir-verify-lowered -split-input-file -verify-diagnostics -allow-unregistered-dialect

llvm.func @fine() {
  llvm.return
}

// -----

llvm.func @left(%x: i64) {
  %0 = builtin.unrealized_conversion_cast %x : i64 to index
  // expected-error @below {{'test.use' op has no lowering for the CPU}}
  "test.use"(%0) : (index) -> ()
  llvm.unreachable
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k() kernel {
      gpu.return
    }
  }
  llvm.func @host(%n: i64) {
    %0 = builtin.unrealized_conversion_cast %n : i64 to index
    // expected-error @below {{'gpu.launch_func' op does not run on the CPU (compile the module for a GPU: --gpu)}}
    gpu.launch_func @kernels::@k blocks in (%0, %0, %0) threads in (%0, %0, %0)
    llvm.return
  }
}
