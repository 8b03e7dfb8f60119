// RUN: tinymlir-opt %s --tinymlir-join-kernels --split-input-file | FileCheck %s

// Two launches of small kernels become one whose first blocks are those of the first and whose others are those of the second,
// with fewer threads there where the second has fewer.
// CHECK:       gpu.func @double_and_clear(%[[X:.*]]: memref<64xf32>, %[[Y:.*]]: memref<100xf32>) kernel
// CHECK-SAME:    known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 5, 1, 1>
// CHECK:         %[[BLOCK:.*]] = gpu.block_id x
// CHECK:         %[[OTHER:.*]] = arith.subi %[[BLOCK]], %{{.*}}
// CHECK:         scf.if
// CHECK:           arith.addf
// CHECK:           memref.store %{{.*}}, %[[X]]
// CHECK:         scf.if
// CHECK:           arith.muli %[[OTHER]]
// CHECK:           memref.store %{{.*}}, %[[Y]]
// CHECK-LABEL: func.func @two
// CHECK:         gpu.launch_func @kernels::@double_and_clear blocks in (%c5{{.*}}) threads in (%c64{{.*}}) args(%{{.*}} : memref<64xf32>, %{{.*}} : memref<100xf32>)
// CHECK-NOT:     gpu.launch_func
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @double(%x: memref<64xf32>) kernel {
      %i = gpu.thread_id x
      %v = memref.load %x[%i] : memref<64xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %x[%i] : memref<64xf32>
      gpu.return
    }
    gpu.func @clear(%y: memref<100xf32>) kernel {
      %zero = arith.constant 0.0 : f32
      %c25 = arith.constant 25 : index
      %b = gpu.block_id x
      %i = gpu.thread_id x
      %0 = arith.muli %b, %c25 : index
      %1 = arith.addi %0, %i : index
      memref.store %zero, %y[%1] : memref<100xf32>
      gpu.return
    }
  }
  func.func @two(%x: memref<64xf32>, %y: memref<100xf32>) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c25 = arith.constant 25 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @kernels::@double blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<64xf32>)
    gpu.launch_func @kernels::@clear blocks in (%c4, %c1, %c1) threads in (%c25, %c1, %c1) args(%y : memref<100xf32>)
    return
  }
}

// -----

// What depends stays behind what it depends on; what does not moves over it. Parts of one buffer that have no element in common
// do not depend on one another, and a kernel whose threads wait for one another keeps its threads.
// CHECK-LABEL: func.func @dependent
// CHECK:         gpu.launch_func @kernels::@sum_and_double blocks in (%c2{{.*}}) threads in (%c32{{.*}}) args(%{{.*}} : memref<32xf32, strided<[1]>>, %{{.*}} : memref<8xf32>)
// CHECK-NEXT:    gpu.launch_func @kernels::@sum blocks
// CHECK-NOT:     gpu.launch_func
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @sum(%x: memref<32xf32, strided<[1]>>) workgroup(%w: memref<32xf32, #gpu.address_space<workgroup>>) kernel {
      %i = gpu.thread_id x
      %v = memref.load %x[%i] : memref<32xf32, strided<[1]>>
      memref.store %v, %w[%i] : memref<32xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %c31 = arith.constant 31 : index
      %j = arith.subi %c31, %i : index
      %u = memref.load %w[%j] : memref<32xf32, #gpu.address_space<workgroup>>
      memref.store %u, %x[%i] : memref<32xf32, strided<[1]>>
      gpu.return
    }
    gpu.func @double(%x: memref<8xf32>) kernel {
      %i = gpu.thread_id x
      %v = memref.load %x[%i] : memref<8xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %x[%i] : memref<8xf32>
      gpu.return
    }
  }
  func.func @dependent(%y: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %b = memref.alloc() : memref<64xf32>
    %low = memref.subview %b[0] [32] [1] : memref<64xf32> to memref<32xf32, strided<[1]>>
    gpu.launch_func @kernels::@sum blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%low : memref<32xf32, strided<[1]>>)
    gpu.launch_func @kernels::@sum blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%low : memref<32xf32, strided<[1]>>)
    gpu.launch_func @kernels::@double blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1) args(%y : memref<8xf32>)
    memref.dealloc %b : memref<64xf32>
    return
  }
}

// -----

// A store to what the other kernel reads, a large grid and a host's access between keep launches as they are.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-5: gpu.launch_func
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @double(%x: memref<8xf32>) kernel {
      %i = gpu.thread_id x
      %v = memref.load %x[%i] : memref<8xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %x[%i] : memref<8xf32>
      gpu.return
    }
    gpu.func @copy(%x: memref<8xf32>, %y: memref<8xf32>) kernel {
      %i = gpu.thread_id x
      %v = memref.load %x[%i] : memref<8xf32>
      memref.store %v, %y[%i] : memref<8xf32>
      gpu.return
    }
  }
  func.func @apart(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) -> f32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c2000 = arith.constant 2000 : index
    gpu.launch_func @kernels::@double blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1) args(%x : memref<8xf32>)
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1) args(%x : memref<8xf32>, %y : memref<8xf32>)
    gpu.launch_func @kernels::@double blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1) args(%y : memref<8xf32>)
    gpu.launch_func @kernels::@double blocks in (%c2000, %c1, %c1) threads in (%c8, %c1, %c1) args(%z : memref<8xf32>)
    %v = memref.load %z[%c0] : memref<8xf32>
    gpu.launch_func @kernels::@double blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1) args(%x : memref<8xf32>)
    return %v : f32
  }
}

// -----

// A kernel that asks for the size of its grid, one that accesses a global variable and one that computes an address from a number
// stay, and nothing moves over the latter two: they may touch anything.
// CHECK-LABEL: func.func @anything
// CHECK:         gpu.launch_func @kernels::@double blocks
// CHECK-NEXT:    gpu.launch_func @kernels::@spread blocks
// CHECK-NEXT:    gpu.launch_func @kernels::@global blocks
// CHECK-NEXT:    gpu.launch_func @kernels::@double blocks
// CHECK-NEXT:    gpu.launch_func @kernels::@address blocks
// CHECK-NEXT:    gpu.launch_func @kernels::@double blocks
module attributes {gpu.container_module} {
  gpu.module @kernels {
    memref.global "private" @g : memref<8xf32, #gpu.address_space<global>> = uninitialized
    gpu.func @double(%x: memref<8xf32>) kernel {
      %i = gpu.thread_id x
      %v = memref.load %x[%i] : memref<8xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %x[%i] : memref<8xf32>
      gpu.return
    }
    gpu.func @spread(%x: memref<8xindex>) kernel {
      %i = gpu.thread_id x
      %n = gpu.grid_dim x
      memref.store %n, %x[%i] : memref<8xindex>
      gpu.return
    }
    gpu.func @global() kernel {
      %zero = arith.constant 0.0 : f32
      %i = gpu.thread_id x
      %g = memref.get_global @g : memref<8xf32, #gpu.address_space<global>>
      memref.store %zero, %g[%i] : memref<8xf32, #gpu.address_space<global>>
      gpu.return
    }
    gpu.func @address(%n: i64) kernel {
      %zero = arith.constant 0.0 : f32
      %p = llvm.inttoptr %n : i64 to !llvm.ptr
      llvm.store %zero, %p : f32, !llvm.ptr
      gpu.return
    }
  }
  func.func @anything(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>, %n: memref<8xindex>, %a: i64) {
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    gpu.launch_func @kernels::@double blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1) args(%x : memref<8xf32>)
    gpu.launch_func @kernels::@spread blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1) args(%n : memref<8xindex>)
    gpu.launch_func @kernels::@global blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1) args()
    gpu.launch_func @kernels::@double blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1) args(%y : memref<8xf32>)
    gpu.launch_func @kernels::@address blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1) args(%a : i64)
    gpu.launch_func @kernels::@double blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1) args(%z : memref<8xf32>)
    return
  }
}

// -----

// Blocks of the second kernel have other numbers along x alone, and its workgroup memory keeps the first from being in front of it.
// CHECK:       gpu.func @clear_and_turn(%{{.*}}: memref<32xf32>, %[[Y:.*]]: memref<8xindex>) workgroup(%{{.*}} : memref<32xf32, #gpu.address_space<workgroup>>) kernel
// CHECK:         %[[X:.*]] = gpu.block_id x
// CHECK:         %[[OTHER:.*]] = arith.subi %[[X]]
// CHECK:         %[[ROW:.*]] = gpu.block_id y
// CHECK:         %[[SUM:.*]] = arith.addi %[[OTHER]], %[[ROW]]
// CHECK:         memref.store %[[SUM]], %[[Y]]
// CHECK-LABEL: func.func @numbers
// CHECK:         gpu.launch_func @kernels::@clear_and_turn blocks
// CHECK-NOT:     gpu.launch_func
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @clear(%y: memref<8xindex>) kernel {
      %i = gpu.thread_id x
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %s = arith.addi %bx, %by : index
      memref.store %s, %y[%i] : memref<8xindex>
      gpu.return
    }
    gpu.func @turn(%x: memref<32xf32>) workgroup(%w: memref<32xf32, #gpu.address_space<workgroup>>) kernel {
      %i = gpu.thread_id x
      %c1 = arith.constant 1 : index
      %j = arith.xori %i, %c1 : index
      %v = memref.load %x[%i] : memref<32xf32>
      memref.store %v, %w[%i] : memref<32xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %u = memref.load %w[%j] : memref<32xf32, #gpu.address_space<workgroup>>
      memref.store %u, %x[%i] : memref<32xf32>
      gpu.return
    }
  }
  func.func @numbers(%x: memref<32xf32>, %y: memref<8xindex>) {
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    gpu.launch_func @kernels::@clear blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1) args(%y : memref<8xindex>)
    gpu.launch_func @kernels::@turn blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%x : memref<32xf32>)
    return
  }
}

// -----

// A launch moves over many others where what it writes is small: a large buffer would be alive for all of them.
// CHECK-LABEL: func.func @far
// CHECK:         gpu.launch_func @kernels::@double_and_clear blocks
// CHECK-COUNT-9: gpu.launch_func @kernels::@step blocks
// CHECK-NOT:     gpu.launch_func
// CHECK-LABEL: func.func @large
// CHECK:         gpu.launch_func @kernels::@double blocks
// CHECK-COUNT-9: gpu.launch_func @kernels::@step blocks
// CHECK:         gpu.launch_func @kernels::@clear_large blocks
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @double(%x: memref<64xf32>) kernel {
      %i = gpu.thread_id x
      %v = memref.load %x[%i] : memref<64xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %x[%i] : memref<64xf32>
      gpu.return
    }
    gpu.func @step(%x: memref<64xf32>, %y: memref<64xf32>) workgroup(%m: memref<64xf32, #gpu.address_space<workgroup>>) kernel {
      %i = gpu.thread_id x
      %v = memref.load %x[%i] : memref<64xf32>
      memref.store %v, %m[%i] : memref<64xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %w = memref.load %m[%i] : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %w, %y[%i] : memref<64xf32>
      gpu.return
    }
    gpu.func @clear(%y: memref<100xf32>) kernel {
      %zero = arith.constant 0.0 : f32
      %i = gpu.thread_id x
      memref.store %zero, %y[%i] : memref<100xf32>
      gpu.return
    }
    gpu.func @clear_large(%y: memref<300000xf32>) kernel {
      %zero = arith.constant 0.0 : f32
      %i = gpu.thread_id x
      memref.store %zero, %y[%i] : memref<300000xf32>
      gpu.return
    }
  }
  func.func @far(%x: memref<64xf32>, %y: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @kernels::@double blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<64xf32>)
    gpu.launch_func @kernels::@step blocks in (%c9, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<64xf32>, %y : memref<64xf32>)
    gpu.launch_func @kernels::@step blocks in (%c9, %c1, %c1) threads in (%c64, %c1, %c1) args(%y : memref<64xf32>, %x : memref<64xf32>)
    gpu.launch_func @kernels::@step blocks in (%c9, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<64xf32>, %y : memref<64xf32>)
    gpu.launch_func @kernels::@step blocks in (%c9, %c1, %c1) threads in (%c64, %c1, %c1) args(%y : memref<64xf32>, %x : memref<64xf32>)
    gpu.launch_func @kernels::@step blocks in (%c9, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<64xf32>, %y : memref<64xf32>)
    gpu.launch_func @kernels::@step blocks in (%c9, %c1, %c1) threads in (%c64, %c1, %c1) args(%y : memref<64xf32>, %x : memref<64xf32>)
    gpu.launch_func @kernels::@step blocks in (%c9, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<64xf32>, %y : memref<64xf32>)
    gpu.launch_func @kernels::@step blocks in (%c9, %c1, %c1) threads in (%c64, %c1, %c1) args(%y : memref<64xf32>, %x : memref<64xf32>)
    gpu.launch_func @kernels::@step blocks in (%c9, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<64xf32>, %y : memref<64xf32>)
    %z = memref.alloc() : memref<100xf32>
    gpu.launch_func @kernels::@clear blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%z : memref<100xf32>)
    memref.dealloc %z : memref<100xf32>
    return
  }
  func.func @large(%x: memref<64xf32>, %y: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @kernels::@double blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<64xf32>)
    gpu.launch_func @kernels::@step blocks in (%c9, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<64xf32>, %y : memref<64xf32>)
    gpu.launch_func @kernels::@step blocks in (%c9, %c1, %c1) threads in (%c64, %c1, %c1) args(%y : memref<64xf32>, %x : memref<64xf32>)
    gpu.launch_func @kernels::@step blocks in (%c9, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<64xf32>, %y : memref<64xf32>)
    gpu.launch_func @kernels::@step blocks in (%c9, %c1, %c1) threads in (%c64, %c1, %c1) args(%y : memref<64xf32>, %x : memref<64xf32>)
    gpu.launch_func @kernels::@step blocks in (%c9, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<64xf32>, %y : memref<64xf32>)
    gpu.launch_func @kernels::@step blocks in (%c9, %c1, %c1) threads in (%c64, %c1, %c1) args(%y : memref<64xf32>, %x : memref<64xf32>)
    gpu.launch_func @kernels::@step blocks in (%c9, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<64xf32>, %y : memref<64xf32>)
    gpu.launch_func @kernels::@step blocks in (%c9, %c1, %c1) threads in (%c64, %c1, %c1) args(%y : memref<64xf32>, %x : memref<64xf32>)
    gpu.launch_func @kernels::@step blocks in (%c9, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<64xf32>, %y : memref<64xf32>)
    %z = memref.alloc() : memref<300000xf32>
    gpu.launch_func @kernels::@clear_large blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%z : memref<300000xf32>)
    memref.dealloc %z : memref<300000xf32>
    return
  }
}

// -----

// Views of bytes lie where their shifts say, and a view that runs backwards reaches to below its offset: these overlap.
// CHECK-LABEL: func.func @shifted
// CHECK-COUNT-2: gpu.launch_func
// CHECK-LABEL: func.func @backwards
// CHECK-COUNT-2: gpu.launch_func
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @fill(%y: memref<16xf32, strided<[1], offset: 16>>) kernel {
      %zero = arith.constant 0.0 : f32
      %i = gpu.thread_id x
      memref.store %zero, %y[%i] : memref<16xf32, strided<[1], offset: 16>>
      gpu.return
    }
    gpu.func @fill_backwards(%y: memref<32xf32, strided<[-1], offset: 31>>) kernel {
      %zero = arith.constant 0.0 : f32
      %i = gpu.thread_id x
      memref.store %zero, %y[%i] : memref<32xf32, strided<[-1], offset: 31>>
      gpu.return
    }
    gpu.func @double(%x: memref<16xf32>) kernel {
      %i = gpu.thread_id x
      %v = memref.load %x[%i] : memref<16xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %x[%i] : memref<16xf32>
      gpu.return
    }
  }
  func.func @shifted(%bytes: memref<512xi8>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %all = memref.view %bytes[%c0][] : memref<512xi8> to memref<32xf32>
    %x = memref.view %bytes[%c64][] : memref<512xi8> to memref<16xf32>
    %y = memref.subview %all[16] [16] [1] : memref<32xf32> to memref<16xf32, strided<[1], offset: 16>>
    gpu.launch_func @kernels::@fill blocks in (%c1, %c1, %c1) threads in (%c16, %c1, %c1) args(%y : memref<16xf32, strided<[1], offset: 16>>)
    gpu.launch_func @kernels::@double blocks in (%c1, %c1, %c1) threads in (%c16, %c1, %c1) args(%x : memref<16xf32>)
    return
  }
  func.func @backwards(%a: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %x = memref.reinterpret_cast %a to offset: [0], sizes: [16], strides: [1] : memref<64xf32> to memref<16xf32>
    %y = memref.reinterpret_cast %a to offset: [31], sizes: [32], strides: [-1] : memref<64xf32> to memref<32xf32, strided<[-1], offset: 31>>
    gpu.launch_func @kernels::@fill_backwards blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%y : memref<32xf32, strided<[-1], offset: 31>>)
    gpu.launch_func @kernels::@double blocks in (%c1, %c1, %c1) threads in (%c16, %c1, %c1) args(%x : memref<16xf32>)
    return
  }
}
