// RUN: tinymlir-opt %s --tinymlir-verify-outlined -split-input-file -verify-diagnostics

func.func @asynchronous_shared() {
  %t = gpu.wait async
  // expected-error @+1 {{'gpu.alloc' op has no lowering on the host: shared memory is allocated at once (make it synchronous)}}
  %m, %u = gpu.alloc async [%t] host_shared () : memref<8xf32>
  gpu.wait [%u]
  return
}

// -----

func.func @synchronous_device() {
  // expected-error @+1 {{'gpu.alloc' op has no lowering on the host: it neither waits for one token nor gives one (run tinymlir-async-launches)}}
  %m = gpu.alloc () : memref<8xf32>
  // expected-error @+1 {{'gpu.dealloc' op has no lowering on the host}}
  gpu.dealloc %m : memref<8xf32>
  return
}

// -----

func.func @strided_copy(%a: memref<4x4xf32, strided<[8, 1]>>, %b: memref<4x4xf32, strided<[8, 1]>>) {
  %t = gpu.wait async
  // expected-error @+1 {{'gpu.memcpy' op has no lowering on the host: its buffers have strides (run tinymlir-device-copies)}}
  %u = gpu.memcpy async [%t] %a, %b : memref<4x4xf32, strided<[8, 1]>>, memref<4x4xf32, strided<[8, 1]>>
  gpu.wait [%u]
  return
}

// -----

func.func @only_in_kernels() {
  // expected-error @+1 {{'gpu.barrier' op has no lowering on the host: only kernels have it (move it into a gpu.launch)}}
  gpu.barrier
  return
}

// -----

func.func @no_loops(%a: memref<4x4xf32>, %b: memref<4x4xf32>) {
  // expected-error @+1 {{'linalg.softmax' op has no kernel: upstream makes no loops of it on buffers (decompose it on tensors)}}
  linalg.softmax dimension(1) ins(%a : memref<4x4xf32>) outs(%b : memref<4x4xf32>)
  return
}

// -----

// Some threads of the second block skip the barrier.
gpu.module @kernels {
  gpu.func @divergent(%m: memref<40xf32>) workgroup(%s : memref<32xf32, #gpu.address_space<workgroup>>) kernel {
    %c32 = arith.constant 32 : index
    %c40 = arith.constant 40 : index
    %b = gpu.block_id x
    %t = gpu.thread_id x
    %base = arith.muli %b, %c32 : index
    %i = arith.addi %base, %t : index
    %in = arith.cmpi ult, %i, %c40 : index
    // expected-note @+1 {{which is here}}
    scf.if %in {
      // expected-error @+1 {{'gpu.barrier' op is undefined: threads of one block decide differently in the 'scf.if' around it (move it out)}}
      gpu.barrier
    }
    gpu.return
  }

  // A condition that is the same for a whole block is fine.
  gpu.func @uniform(%n: index) kernel {
    %b = gpu.block_id x
    %in = arith.cmpi ult, %b, %n : index
    scf.if %in {
      gpu.barrier
    }
    gpu.return
  }
}
