// Kernels of clusters: two blocks of 32 threads each where nothing else is said, and what is wrong in most of them.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.mlir.global internal @tile() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<32 x f32>

    // Where the first element of the tile is, or that of a thread.
    llvm.func @own() -> !llvm.ptr<3> {
      %i = nvvm.read.ptx.sreg.tid.x : i32
      %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
      %p = llvm.getelementptr %tile[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      llvm.return %p : !llvm.ptr<3>
    }
    llvm.func @global(%x: !llvm.ptr) -> !llvm.ptr {
      %i = nvvm.read.ptx.sreg.tid.x : i32
      %b = nvvm.read.ptx.sreg.ctaid.x : i32
      %n = nvvm.read.ptx.sreg.ntid.x : i32
      %base = llvm.mul %b, %n : i32
      %at = llvm.add %base, %i : i32
      %p = llvm.getelementptr %x[%at] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      llvm.return %p : !llvm.ptr
    }
    llvm.func @other() -> i32 {
      %one = llvm.mlir.constant(1 : i32) : i32
      %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
      %other = llvm.xor %rank, %one : i32
      llvm.return %other : i32
    }

    // Each thread takes the other block's element.
    llvm.func @exchange(%x: !llvm.ptr, %y: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      %own = llvm.call @own() : () -> !llvm.ptr<3>
      %from = llvm.call @global(%x) : (!llvm.ptr) -> !llvm.ptr
      %v = llvm.load %from : !llvm.ptr -> f32
      llvm.store %v, %own : f32, !llvm.ptr<3>
      nvvm.cluster.arrive {aligned}
      nvvm.cluster.wait {aligned}
      %other = llvm.call @other() : () -> i32
      %remote = nvvm.mapa %own, %other : !llvm.ptr<3> -> !llvm.ptr<7>
      %w = llvm.load %remote : !llvm.ptr<7> -> f32
      %to = llvm.call @global(%y) : (!llvm.ptr) -> !llvm.ptr
      llvm.store %w, %to : f32, !llvm.ptr
      nvvm.cluster.arrive.relaxed
      nvvm.cluster.wait
      llvm.return
    }

    // The sum of a cluster's elements, which all of its threads add to the first block's, by atomic additions; the last step is
    // through generic addresses.
    llvm.func @sum(%x: !llvm.ptr, %y: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      %zero = llvm.mlir.constant(0.0 : f32) : f32
      %none = llvm.mlir.constant(0 : i32) : i32
      %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
      %i = nvvm.read.ptx.sreg.tid.x : i32
      %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
      %both = llvm.or %i, %rank : i32
      %first = llvm.icmp "eq" %both, %none : i32
      llvm.cond_br %first, ^clear, ^begin
    ^clear:
      llvm.store %zero, %tile : f32, !llvm.ptr<3>
      llvm.br ^begin
    ^begin:
      nvvm.cluster.arrive
      nvvm.cluster.wait
      %from = llvm.call @global(%x) : (!llvm.ptr) -> !llvm.ptr
      %v = llvm.load %from : !llvm.ptr -> f32
      %remote = nvvm.mapa %tile, %none : !llvm.ptr<3> -> !llvm.ptr<7>
      %old = llvm.atomicrmw fadd %remote, %v monotonic : !llvm.ptr<7>, f32
      nvvm.cluster.arrive
      nvvm.cluster.wait
      %generic = llvm.addrspacecast %tile : !llvm.ptr<3> to !llvm.ptr
      %there = nvvm.mapa %generic, %none : !llvm.ptr -> !llvm.ptr
      %sum = llvm.load %there : !llvm.ptr -> f32
      %to = llvm.call @global(%y) : (!llvm.ptr) -> !llvm.ptr
      llvm.store %sum, %to : f32, !llvm.ptr
      nvvm.cluster.arrive
      nvvm.cluster.wait
      llvm.return
    }

    // Nothing between the store and the other block's load: the values depend on the order of the blocks.
    llvm.func @hasty(%x: !llvm.ptr, %y: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      nvvm.cluster.arrive
      nvvm.cluster.wait
      %own = llvm.call @own() : () -> !llvm.ptr<3>
      %from = llvm.call @global(%x) : (!llvm.ptr) -> !llvm.ptr
      %v = llvm.load %from : !llvm.ptr -> f32
      llvm.store %v, %own : f32, !llvm.ptr<3>
      %other = llvm.call @other() : () -> i32
      %remote = nvvm.mapa %own, %other : !llvm.ptr<3> -> !llvm.ptr<7>
      %w = llvm.load %remote : !llvm.ptr<7> -> f32
      %to = llvm.call @global(%y) : (!llvm.ptr) -> !llvm.ptr
      llvm.store %w, %to : f32, !llvm.ptr
      nvvm.cluster.arrive
      nvvm.cluster.wait
      llvm.return
    }

    // The first block returns at once.
    llvm.func @leaves(%x: !llvm.ptr, %y: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      %none = llvm.mlir.constant(0 : i32) : i32
      %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
      %first = llvm.icmp "eq" %rank, %none : i32
      llvm.cond_br %first, ^end, ^barrier
    ^barrier:
      nvvm.cluster.arrive
      nvvm.cluster.wait
      llvm.br ^end
    ^end:
      llvm.return
    }

    // Half of a block's threads wait for the block, the others for the cluster.
    llvm.func @apart(%x: !llvm.ptr, %y: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      %half = llvm.mlir.constant(16 : i32) : i32
      %i = nvvm.read.ptx.sreg.tid.x : i32
      %low = llvm.icmp "ult" %i, %half : i32
      llvm.cond_br %low, ^cluster, ^block
    ^block:
      nvvm.barrier0
      llvm.br ^cluster
    ^cluster:
      nvvm.cluster.arrive
      nvvm.cluster.wait
      llvm.return
    }

    // Nothing keeps the other block's memory: it may not be there yet, or no more.
    llvm.func @early(%x: !llvm.ptr, %y: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      %own = llvm.call @own() : () -> !llvm.ptr<3>
      %other = llvm.call @other() : () -> i32
      %remote = nvvm.mapa %own, %other : !llvm.ptr<3> -> !llvm.ptr<7>
      %v = llvm.load %remote : !llvm.ptr<7> -> f32
      llvm.store %v, %own : f32, !llvm.ptr<3>
      nvvm.cluster.arrive
      nvvm.cluster.wait
      llvm.return
    }
    llvm.func @late(%x: !llvm.ptr, %y: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      nvvm.cluster.arrive
      nvvm.cluster.wait
      %own = llvm.call @own() : () -> !llvm.ptr<3>
      %other = llvm.call @other() : () -> i32
      %remote = nvvm.mapa %own, %other : !llvm.ptr<3> -> !llvm.ptr<7>
      %v = llvm.load %remote : !llvm.ptr<7> -> f32
      llvm.store %v, %own : f32, !llvm.ptr<3>
      llvm.return
    }

    llvm.func @outside(%x: !llvm.ptr, %y: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      nvvm.cluster.arrive
      nvvm.cluster.wait
      %own = llvm.call @own() : () -> !llvm.ptr<3>
      %other = llvm.call @other() : () -> i32
      %remote = nvvm.mapa %own, %other : !llvm.ptr<3> -> !llvm.ptr<7>
      %next = llvm.getelementptr %remote[1] : (!llvm.ptr<7>) -> !llvm.ptr<7>, f32
      %v = llvm.load %next : !llvm.ptr<7> -> f32
      llvm.store %v, %own : f32, !llvm.ptr<3>
      nvvm.cluster.arrive
      nvvm.cluster.wait
      llvm.return
    }
    llvm.func @stranger(%x: !llvm.ptr, %y: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      %own = llvm.call @own() : () -> !llvm.ptr<3>
      %n = nvvm.read.ptx.sreg.cluster.nctarank : i32
      %remote = nvvm.mapa %own, %n : !llvm.ptr<3> -> !llvm.ptr<7>
      %v = llvm.load %remote : !llvm.ptr<7> -> f32
      llvm.store %v, %own : f32, !llvm.ptr<3>
      llvm.return
    }
    llvm.func @elsewhere(%x: !llvm.ptr, %y: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      %n = llvm.mlir.constant(0 : i32) : i32
      %remote = nvvm.mapa %x, %n : !llvm.ptr -> !llvm.ptr
      llvm.store %n, %remote : i32, !llvm.ptr
      llvm.return
    }
    llvm.func @unaligned(%x: !llvm.ptr, %y: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      %n = llvm.mlir.constant(0 : i32) : i32
      %own = llvm.call @own() : () -> !llvm.ptr<3>
      %next = llvm.getelementptr %own[2] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      %remote = nvvm.mapa %next, %n : !llvm.ptr<3> -> !llvm.ptr<7>
      llvm.store %n, %remote : i32, !llvm.ptr<7>
      llvm.return
    }
    llvm.func @twice(%x: !llvm.ptr, %y: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      nvvm.cluster.arrive
      nvvm.cluster.arrive
      llvm.return
    }
    llvm.func @unarrived(%x: !llvm.ptr, %y: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      nvvm.cluster.wait
      llvm.return
    }
    llvm.func @pairs(%x: !llvm.ptr, %y: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
      %n = nvvm.read.ptx.sreg.cluster.nctaid.x : i32
      %v = llvm.sitofp %n : i32 to f32
      %to = llvm.call @global(%y) : (!llvm.ptr) -> !llvm.ptr
      llvm.store %v, %to : f32, !llvm.ptr
      llvm.return
    }
  }

  func.func @exchange(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %px = memref.extract_aligned_pointer_as_index %x : memref<128xf32> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<128xf32> -> index
    %ix = arith.index_cast %px : index to i64
    %iy = arith.index_cast %py : index to i64
    %x0 = llvm.inttoptr %ix : i64 to !llvm.ptr
    %y0 = llvm.inttoptr %iy : i64 to !llvm.ptr
    gpu.launch_func @kernels::@exchange clusters in (%c2, %c1, %c1) blocks in (%c4, %c1, %c1) threads in (%c32, %c1, %c1) args(%x0 : !llvm.ptr, %y0 : !llvm.ptr)
    return
  }
  func.func @sum(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %px = memref.extract_aligned_pointer_as_index %x : memref<128xf32> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<128xf32> -> index
    %ix = arith.index_cast %px : index to i64
    %iy = arith.index_cast %py : index to i64
    %x0 = llvm.inttoptr %ix : i64 to !llvm.ptr
    %y0 = llvm.inttoptr %iy : i64 to !llvm.ptr
    gpu.launch_func @kernels::@sum clusters in (%c2, %c1, %c1) blocks in (%c4, %c1, %c1) threads in (%c32, %c1, %c1) args(%x0 : !llvm.ptr, %y0 : !llvm.ptr)
    return
  }
  func.func @hasty(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %px = memref.extract_aligned_pointer_as_index %x : memref<128xf32> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<128xf32> -> index
    %ix = arith.index_cast %px : index to i64
    %iy = arith.index_cast %py : index to i64
    %x0 = llvm.inttoptr %ix : i64 to !llvm.ptr
    %y0 = llvm.inttoptr %iy : i64 to !llvm.ptr
    gpu.launch_func @kernels::@hasty clusters in (%c2, %c1, %c1) blocks in (%c4, %c1, %c1) threads in (%c32, %c1, %c1) args(%x0 : !llvm.ptr, %y0 : !llvm.ptr)
    return
  }
  func.func @leaves(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %px = memref.extract_aligned_pointer_as_index %x : memref<128xf32> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<128xf32> -> index
    %ix = arith.index_cast %px : index to i64
    %iy = arith.index_cast %py : index to i64
    %x0 = llvm.inttoptr %ix : i64 to !llvm.ptr
    %y0 = llvm.inttoptr %iy : i64 to !llvm.ptr
    gpu.launch_func @kernels::@leaves clusters in (%c2, %c1, %c1) blocks in (%c4, %c1, %c1) threads in (%c32, %c1, %c1) args(%x0 : !llvm.ptr, %y0 : !llvm.ptr)
    return
  }
  func.func @apart(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %px = memref.extract_aligned_pointer_as_index %x : memref<128xf32> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<128xf32> -> index
    %ix = arith.index_cast %px : index to i64
    %iy = arith.index_cast %py : index to i64
    %x0 = llvm.inttoptr %ix : i64 to !llvm.ptr
    %y0 = llvm.inttoptr %iy : i64 to !llvm.ptr
    gpu.launch_func @kernels::@apart clusters in (%c2, %c1, %c1) blocks in (%c4, %c1, %c1) threads in (%c32, %c1, %c1) args(%x0 : !llvm.ptr, %y0 : !llvm.ptr)
    return
  }
  func.func @early(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %px = memref.extract_aligned_pointer_as_index %x : memref<128xf32> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<128xf32> -> index
    %ix = arith.index_cast %px : index to i64
    %iy = arith.index_cast %py : index to i64
    %x0 = llvm.inttoptr %ix : i64 to !llvm.ptr
    %y0 = llvm.inttoptr %iy : i64 to !llvm.ptr
    gpu.launch_func @kernels::@early clusters in (%c2, %c1, %c1) blocks in (%c4, %c1, %c1) threads in (%c32, %c1, %c1) args(%x0 : !llvm.ptr, %y0 : !llvm.ptr)
    return
  }
  func.func @late(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %px = memref.extract_aligned_pointer_as_index %x : memref<128xf32> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<128xf32> -> index
    %ix = arith.index_cast %px : index to i64
    %iy = arith.index_cast %py : index to i64
    %x0 = llvm.inttoptr %ix : i64 to !llvm.ptr
    %y0 = llvm.inttoptr %iy : i64 to !llvm.ptr
    gpu.launch_func @kernels::@late clusters in (%c2, %c1, %c1) blocks in (%c4, %c1, %c1) threads in (%c32, %c1, %c1) args(%x0 : !llvm.ptr, %y0 : !llvm.ptr)
    return
  }
  func.func @outside(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %px = memref.extract_aligned_pointer_as_index %x : memref<128xf32> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<128xf32> -> index
    %ix = arith.index_cast %px : index to i64
    %iy = arith.index_cast %py : index to i64
    %x0 = llvm.inttoptr %ix : i64 to !llvm.ptr
    %y0 = llvm.inttoptr %iy : i64 to !llvm.ptr
    gpu.launch_func @kernels::@outside clusters in (%c2, %c1, %c1) blocks in (%c4, %c1, %c1) threads in (%c32, %c1, %c1) args(%x0 : !llvm.ptr, %y0 : !llvm.ptr)
    return
  }
  func.func @stranger(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %px = memref.extract_aligned_pointer_as_index %x : memref<128xf32> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<128xf32> -> index
    %ix = arith.index_cast %px : index to i64
    %iy = arith.index_cast %py : index to i64
    %x0 = llvm.inttoptr %ix : i64 to !llvm.ptr
    %y0 = llvm.inttoptr %iy : i64 to !llvm.ptr
    gpu.launch_func @kernels::@stranger clusters in (%c2, %c1, %c1) blocks in (%c4, %c1, %c1) threads in (%c32, %c1, %c1) args(%x0 : !llvm.ptr, %y0 : !llvm.ptr)
    return
  }
  func.func @elsewhere(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %px = memref.extract_aligned_pointer_as_index %x : memref<128xf32> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<128xf32> -> index
    %ix = arith.index_cast %px : index to i64
    %iy = arith.index_cast %py : index to i64
    %x0 = llvm.inttoptr %ix : i64 to !llvm.ptr
    %y0 = llvm.inttoptr %iy : i64 to !llvm.ptr
    gpu.launch_func @kernels::@elsewhere clusters in (%c2, %c1, %c1) blocks in (%c4, %c1, %c1) threads in (%c32, %c1, %c1) args(%x0 : !llvm.ptr, %y0 : !llvm.ptr)
    return
  }
  func.func @unaligned(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %px = memref.extract_aligned_pointer_as_index %x : memref<128xf32> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<128xf32> -> index
    %ix = arith.index_cast %px : index to i64
    %iy = arith.index_cast %py : index to i64
    %x0 = llvm.inttoptr %ix : i64 to !llvm.ptr
    %y0 = llvm.inttoptr %iy : i64 to !llvm.ptr
    gpu.launch_func @kernels::@unaligned clusters in (%c2, %c1, %c1) blocks in (%c4, %c1, %c1) threads in (%c32, %c1, %c1) args(%x0 : !llvm.ptr, %y0 : !llvm.ptr)
    return
  }
  func.func @twice(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %px = memref.extract_aligned_pointer_as_index %x : memref<128xf32> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<128xf32> -> index
    %ix = arith.index_cast %px : index to i64
    %iy = arith.index_cast %py : index to i64
    %x0 = llvm.inttoptr %ix : i64 to !llvm.ptr
    %y0 = llvm.inttoptr %iy : i64 to !llvm.ptr
    gpu.launch_func @kernels::@twice clusters in (%c2, %c1, %c1) blocks in (%c4, %c1, %c1) threads in (%c32, %c1, %c1) args(%x0 : !llvm.ptr, %y0 : !llvm.ptr)
    return
  }
  func.func @unarrived(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %px = memref.extract_aligned_pointer_as_index %x : memref<128xf32> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<128xf32> -> index
    %ix = arith.index_cast %px : index to i64
    %iy = arith.index_cast %py : index to i64
    %x0 = llvm.inttoptr %ix : i64 to !llvm.ptr
    %y0 = llvm.inttoptr %iy : i64 to !llvm.ptr
    gpu.launch_func @kernels::@unarrived clusters in (%c2, %c1, %c1) blocks in (%c4, %c1, %c1) threads in (%c32, %c1, %c1) args(%x0 : !llvm.ptr, %y0 : !llvm.ptr)
    return
  }
  func.func @pairs(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %px = memref.extract_aligned_pointer_as_index %x : memref<128xf32> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<128xf32> -> index
    %ix = arith.index_cast %px : index to i64
    %iy = arith.index_cast %py : index to i64
    %x0 = llvm.inttoptr %ix : i64 to !llvm.ptr
    %y0 = llvm.inttoptr %iy : i64 to !llvm.ptr
    gpu.launch_func @kernels::@pairs clusters in (%c2, %c1, %c1) blocks in (%c4, %c1, %c1) threads in (%c32, %c1, %c1) args(%x0 : !llvm.ptr, %y0 : !llvm.ptr)
    return
  }
  func.func @sum_of_four(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %px = memref.extract_aligned_pointer_as_index %x : memref<128xf32> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<128xf32> -> index
    %ix = arith.index_cast %px : index to i64
    %iy = arith.index_cast %py : index to i64
    %x0 = llvm.inttoptr %ix : i64 to !llvm.ptr
    %y0 = llvm.inttoptr %iy : i64 to !llvm.ptr
    gpu.launch_func @kernels::@sum clusters in (%c4, %c1, %c1) blocks in (%c4, %c1, %c1) threads in (%c32, %c1, %c1) args(%x0 : !llvm.ptr, %y0 : !llvm.ptr)
    return
  }
  func.func @compiled(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %px = memref.extract_aligned_pointer_as_index %x : memref<128xf32> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<128xf32> -> index
    %ix = arith.index_cast %px : index to i64
    %iy = arith.index_cast %py : index to i64
    %x0 = llvm.inttoptr %ix : i64 to !llvm.ptr
    %y0 = llvm.inttoptr %iy : i64 to !llvm.ptr
    gpu.launch_func @kernels::@pairs blocks in (%c4, %c1, %c1) threads in (%c32, %c1, %c1) args(%x0 : !llvm.ptr, %y0 : !llvm.ptr)
    return
  }
  func.func @others(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %px = memref.extract_aligned_pointer_as_index %x : memref<128xf32> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<128xf32> -> index
    %ix = arith.index_cast %px : index to i64
    %iy = arith.index_cast %py : index to i64
    %x0 = llvm.inttoptr %ix : i64 to !llvm.ptr
    %y0 = llvm.inttoptr %iy : i64 to !llvm.ptr
    gpu.launch_func @kernels::@pairs clusters in (%c4, %c1, %c1) blocks in (%c4, %c1, %c1) threads in (%c32, %c1, %c1) args(%x0 : !llvm.ptr, %y0 : !llvm.ptr)
    return
  }
  func.func @parts(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c32 = arith.constant 32 : index
    %px = memref.extract_aligned_pointer_as_index %x : memref<128xf32> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<128xf32> -> index
    %ix = arith.index_cast %px : index to i64
    %iy = arith.index_cast %py : index to i64
    %x0 = llvm.inttoptr %ix : i64 to !llvm.ptr
    %y0 = llvm.inttoptr %iy : i64 to !llvm.ptr
    gpu.launch_func @kernels::@pairs clusters in (%c2, %c1, %c1) blocks in (%c3, %c1, %c1) threads in (%c32, %c1, %c1) args(%x0 : !llvm.ptr, %y0 : !llvm.ptr)
    return
  }
  func.func @many(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %px = memref.extract_aligned_pointer_as_index %x : memref<128xf32> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<128xf32> -> index
    %ix = arith.index_cast %px : index to i64
    %iy = arith.index_cast %py : index to i64
    %x0 = llvm.inttoptr %ix : i64 to !llvm.ptr
    %y0 = llvm.inttoptr %iy : i64 to !llvm.ptr
    gpu.launch_func @kernels::@exchange clusters in (%c32, %c1, %c1) blocks in (%c32, %c1, %c1) threads in (%c32, %c1, %c1) args(%x0 : !llvm.ptr, %y0 : !llvm.ptr)
    return
  }

  // Where a thread is: for each of 2x4x2 blocks, of which a cluster is 1x2x2, every number that it knows of itself as a digit.
  func.func @numbers(%x: memref<2x4x2xi32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c10 = arith.constant 10 : index
    gpu.launch clusters(%cx, %cy, %cz) in (%nx = %c1, %ny = %c2, %nz = %c2) blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c4, %gz = %c2) threads(%tx, %ty, %tz) in (%mx = %c1, %my = %c1, %mz = %c1) {
      %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
      %r = arith.index_cast %rank : i32 to index
      %yy = gpu.cluster_block_id y
      %zz = gpu.cluster_block_id z
      %sy = gpu.cluster_dim_blocks y
      %dx = gpu.cluster_dim x
      %dy = gpu.cluster_dim y
      %v0 = arith.muli %cx, %c10 : index
      %v1 = arith.addi %v0, %cy : index
      %v2 = arith.muli %v1, %c10 : index
      %v3 = arith.addi %v2, %yy : index
      %v4 = arith.muli %v3, %c10 : index
      %v5 = arith.addi %v4, %zz : index
      %v6 = arith.muli %v5, %c10 : index
      %v7 = arith.addi %v6, %r : index
      %v8 = arith.muli %v7, %c10 : index
      %v9 = arith.addi %v8, %sy : index
      %v10 = arith.muli %v9, %c10 : index
      %v11 = arith.addi %v10, %dx : index
      %v12 = arith.muli %v11, %c10 : index
      %v13 = arith.addi %v12, %dy : index
      %v14 = arith.muli %v13, %c10 : index
      %v15 = arith.addi %v14, %ny : index
      %v = arith.index_cast %v15 : index to i32
      memref.store %v, %x[%bx, %by, %bz] : memref<2x4x2xi32>
      gpu.terminator
    }
    return
  }
}
