// Kernels for emulate.test: right ones, and ones that a card would hang on or compute nonsense with.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    // Elements of a block of 64 in reverse, through shared memory.
    gpu.func @exchange(%x: memref<128xf32>, %y: memref<128xf32>) workgroup(%s: memref<64xf32, #gpu.address_space<workgroup>>) kernel {
      %t = gpu.thread_id x
      %b = gpu.block_id x
      %c63 = arith.constant 63 : index
      %c64 = arith.constant 64 : index
      %base = arith.muli %b, %c64 : index
      %i = arith.addi %base, %t : index
      %v = memref.load %x[%i] : memref<128xf32>
      memref.store %v, %s[%t] : memref<64xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %r = arith.subi %c63, %t : index
      %w = memref.load %s[%r] : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %w, %y[%i] : memref<128xf32>
      gpu.return
    }
    // The same without the barrier.
    gpu.func @hasty(%x: memref<128xf32>, %y: memref<128xf32>) workgroup(%s: memref<64xf32, #gpu.address_space<workgroup>>) kernel {
      %t = gpu.thread_id x
      %b = gpu.block_id x
      %c63 = arith.constant 63 : index
      %c64 = arith.constant 64 : index
      %base = arith.muli %b, %c64 : index
      %i = arith.addi %base, %t : index
      %v = memref.load %x[%i] : memref<128xf32>
      memref.store %v, %s[%t] : memref<64xf32, #gpu.address_space<workgroup>>
      %r = arith.subi %c63, %t : index
      %w = memref.load %s[%r] : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %w, %y[%i] : memref<128xf32>
      gpu.return
    }
    // The sum over each warp by shuffles, and over the block by dynamic shared memory.
    gpu.func @sums(%x: memref<128xf32>, %y: memref<128xf32>) kernel {
      %t = gpu.thread_id x
      %b = gpu.block_id x
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c32 = arith.constant 32 : index
      %c64 = arith.constant 64 : index
      %width = arith.constant 32 : i32
      %base = arith.muli %b, %c64 : index
      %i = arith.addi %base, %t : index
      %v = memref.load %x[%i] : memref<128xf32>
      %lane = arith.remui %t, %c32 : index
      %warp = arith.divui %t, %c32 : index
      %o16 = arith.constant 16 : i32
      %o8 = arith.constant 8 : i32
      %o4 = arith.constant 4 : i32
      %o2 = arith.constant 2 : i32
      %o1 = arith.constant 1 : i32
      %s0, %p0 = gpu.shuffle xor %v, %o16, %width : f32
      %v0 = arith.addf %v, %s0 : f32
      %s1, %p1 = gpu.shuffle xor %v0, %o8, %width : f32
      %v1 = arith.addf %v0, %s1 : f32
      %s2, %p2 = gpu.shuffle xor %v1, %o4, %width : f32
      %v2 = arith.addf %v1, %s2 : f32
      %s3, %p3 = gpu.shuffle down %v2, %o2, %width : f32
      %v3 = arith.addf %v2, %s3 : f32
      %s4, %p4 = gpu.shuffle down %v3, %o1, %width : f32
      %v4 = arith.addf %v3, %s4 : f32
      %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      %m = memref.view %bytes[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<2xf32, #gpu.address_space<workgroup>>
      %first = arith.cmpi eq, %lane, %c0 : index
      scf.if %first {
        memref.store %v4, %m[%warp] : memref<2xf32, #gpu.address_space<workgroup>>
      }
      gpu.barrier
      %a = memref.load %m[%c0] : memref<2xf32, #gpu.address_space<workgroup>>
      %c = memref.load %m[%c1] : memref<2xf32, #gpu.address_space<workgroup>>
      %sum = arith.addf %a, %c : f32
      memref.store %sum, %y[%i] : memref<128xf32>
      gpu.return
    }
    // The first lanes wait for all.
    gpu.func @half(%x: memref<128xf32>, %y: memref<128xf32>) kernel {
      %t = gpu.thread_id x
      %c16 = arith.constant 16 : index
      %width = arith.constant 32 : i32
      %one = arith.constant 1 : i32
      %v = memref.load %x[%t] : memref<128xf32>
      %few = arith.cmpi ult, %t, %c16 : index
      scf.if %few {
        %s, %p = gpu.shuffle xor %v, %one, %width : f32
        memref.store %s, %y[%t] : memref<128xf32>
      }
      gpu.return
    }
    // The first warp waits for the second at a barrier of the block.
    gpu.func @early(%x: memref<128xf32>, %y: memref<128xf32>) kernel {
      %t = gpu.thread_id x
      %c32 = arith.constant 32 : index
      %few = arith.cmpi ult, %t, %c32 : index
      scf.if %few {
        nvvm.barrier0
        %v = memref.load %x[%t] : memref<128xf32>
        memref.store %v, %y[%t] : memref<128xf32>
      }
      gpu.return
    }
    // Each warp has a barrier of its own; then its lanes count, vote and add up.
    gpu.func @together(%x: memref<128xf32>, %y: memref<128xf32>) workgroup(%s: memref<64xf32, #gpu.address_space<workgroup>>) kernel {
      %t = gpu.thread_id x
      %all = arith.constant -1 : i32
      %c31 = arith.constant 31 : index
      %c32 = arith.constant 32 : index
      %c64 = arith.constant 64 : index
      %one = arith.constant 1 : i32
      %threads = arith.constant 32 : i32
      %v = memref.load %x[%t] : memref<128xf32>
      memref.store %v, %s[%t] : memref<64xf32, #gpu.address_space<workgroup>>
      %warp = arith.divui %t, %c32 : index
      %warp32 = arith.index_cast %warp : index to i32
      %id = arith.addi %warp32, %one : i32
      nvvm.barrier id = %id number_of_threads = %threads
      %other = arith.xori %t, %c31 : index
      %w = memref.load %s[%other] : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %w, %y[%t] : memref<128xf32>
      %lane = nvvm.read.ptx.sreg.laneid : i32
      %odd = arith.trunci %lane : i32 to i1
      %ballot = nvvm.vote.sync ballot %all, %odd -> i32
      %any = nvvm.vote.sync any %all, %odd -> i1
      %every = nvvm.vote.sync all %all, %odd -> i1
      %sum = nvvm.redux.sync add %lane, %all : i32 -> i32
      %most = nvvm.redux.sync max %lane, %all : i32 -> i32
      %high = arith.shrui %ballot, %one : i32
      %any32 = arith.extui %any : i1 to i32
      %every32 = arith.extui %every : i1 to i32
      %bits = arith.constant 1431655765 : i32
      %low = arith.andi %high, %bits : i32
      %right = arith.cmpi eq, %low, %bits : i32
      %right32 = arith.extui %right : i1 to i32
      %a = arith.addi %sum, %most : i32
      %b = arith.addi %a, %any32 : i32
      %c = arith.addi %b, %every32 : i32
      %d = arith.addi %c, %right32 : i32
      %f = arith.sitofp %d : i32 to f32
      %i = arith.addi %t, %c64 : index
      memref.store %f, %y[%i] : memref<128xf32>
      gpu.return
    }
    // Four elements a thread, copied asynchronously and read before they have been waited for.
    gpu.func @unawaited(%x: memref<128xf32>, %y: memref<128xf32>) workgroup(%s: memref<128xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel {
      %t = gpu.thread_id x
      %c4 = arith.constant 4 : index
      %i = arith.muli %t, %c4 : index
      %copy = nvgpu.device_async_copy %x[%i], %s[%i], 4 : memref<128xf32> to memref<128xf32, #gpu.address_space<workgroup>>
      %group = nvgpu.device_async_create_group %copy
      %v = memref.load %s[%i] : memref<128xf32, #gpu.address_space<workgroup>>
      nvgpu.device_async_wait %group
      %w = memref.load %s[%i] : memref<128xf32, #gpu.address_space<workgroup>>
      memref.store %v, %y[%i] : memref<128xf32>
      %c1 = arith.constant 1 : index
      %j = arith.addi %i, %c1 : index
      memref.store %w, %y[%j] : memref<128xf32>
      gpu.return
    }
    // Thread 63 writes behind shared memory.
    gpu.func @outside(%x: memref<128xf32>, %y: memref<128xf32>) workgroup(%s: memref<63xf32, #gpu.address_space<workgroup>>) kernel {
      %t = gpu.thread_id x
      %v = memref.load %x[%t] : memref<128xf32>
      memref.store %v, %s[%t] : memref<63xf32, #gpu.address_space<workgroup>>
      gpu.return
    }
    // Four elements at once, from the second on.
    gpu.func @misaligned(%x: memref<128xf32>, %y: memref<128xf32>) kernel {
      %t = gpu.thread_id x
      %c1 = arith.constant 1 : index
      %i = arith.addi %t, %c1 : index
      %v = vector.load %x[%i] {alignment = 16 : i64} : memref<128xf32>, vector<4xf32>
      %e = vector.extract %v[0] : f32 from vector<4xf32>
      memref.store %e, %y[%t] : memref<128xf32>
      gpu.return
    }
    // Elements must be less than 100.
    gpu.func @small(%x: memref<128xf32>, %y: memref<128xf32>) kernel {
      %t = gpu.thread_id x
      %limit = arith.constant 100.0 : f32
      %v = memref.load %x[%t] : memref<128xf32>
      %ok = arith.cmpf olt, %v, %limit : f32
      cf.assert %ok, "an element is 100 or more"
      memref.store %v, %y[%t] : memref<128xf32>
      gpu.return
    }
  }
  func.func @exchange(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @kernels::@exchange blocks in (%c2, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<128xf32>, %y : memref<128xf32>)
    return
  }
  func.func @hasty(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @kernels::@hasty blocks in (%c2, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<128xf32>, %y : memref<128xf32>)
    return
  }
  func.func @sums(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %bytes = arith.constant 8 : i32
    gpu.launch_func @kernels::@sums blocks in (%c2, %c1, %c1) threads in (%c64, %c1, %c1) dynamic_shared_memory_size %bytes args(%x : memref<128xf32>, %y : memref<128xf32>)
    return
  }
  func.func @sums_without_memory(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @kernels::@sums blocks in (%c2, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<128xf32>, %y : memref<128xf32>)
    return
  }
  func.func @half(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @kernels::@half blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<128xf32>, %y : memref<128xf32>)
    return
  }
  func.func @early(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @kernels::@early blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<128xf32>, %y : memref<128xf32>)
    return
  }
  func.func @together(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @kernels::@together blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<128xf32>, %y : memref<128xf32>)
    return
  }
  func.func @unawaited(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    gpu.launch_func @kernels::@unawaited blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%x : memref<128xf32>, %y : memref<128xf32>)
    return
  }
  func.func @outside(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @kernels::@outside blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<128xf32>, %y : memref<128xf32>)
    return
  }
  func.func @misaligned(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @kernels::@misaligned blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<128xf32>, %y : memref<128xf32>)
    return
  }
  func.func @small(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @kernels::@small blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<128xf32>, %y : memref<128xf32>)
    return
  }
  func.func @too_large(%x: memref<128xf32>, %y: memref<128xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c2048 = arith.constant 2048 : index
    gpu.launch_func @kernels::@small blocks in (%c1, %c1, %c1) threads in (%c2048, %c1, %c1) args(%x : memref<128xf32>, %y : memref<128xf32>)
    return
  }
}
