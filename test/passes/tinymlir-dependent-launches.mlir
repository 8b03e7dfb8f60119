// RUN: tinymlir-opt %s --tinymlir-dependent-launches=chip=sm_90 | FileCheck %s
// RUN: tinymlir-opt %s --tinymlir-dependent-launches=chip=sm_80 | FileCheck %s --check-prefix=OLD
// RUN: tinymlir-opt %s --tinymlir-dependent-launches=chip=sm_90 --tinymlir-dependent-launches=chip=sm_90 | FileCheck %s
// RUN: %if ptxas %{ tinymlir-opt %s --tinymlir-dependent-launches=chip=sm_90 --tinymlir-lower-gpu=chip=sm_90 | FileCheck %s --check-prefix=PTX %}

// Before sm_90 there is no such instruction.
// OLD-NOT: griddepcontrol
// OLD-NOT: @tinymlir_dependent_launches

module attributes {gpu.container_module} {
  // CHECK-LABEL: gpu.module @kernels
  gpu.module @kernels {
    // The first operand is a constant in every launch, and its loads come before the wait, in workgroup memory too; the
    // second is not.
    // CHECK-LABEL: gpu.func @scale
    // CHECK:         nvvm.griddepcontrol{{ +}}launch_dependents
    // CHECK:         memref.load %arg0
    // CHECK:         memref.store
    // CHECK:         nvvm.griddepcontrol{{ +}}wait
    // CHECK-NEXT:    memref.load %arg1
    // PTX:           griddepcontrol.launch_dependents
    // PTX:           ld.global
    // PTX:           griddepcontrol.wait
    // PTX:           ld.global
    gpu.func @scale(%w: memref<32xf32>, %x: memref<32xf32>) workgroup(%s: memref<32xf32, #gpu.address_space<workgroup>>) kernel {
      %t = gpu.thread_id x
      %a = memref.load %w[%t] : memref<32xf32>
      memref.store %a, %s[%t] : memref<32xf32, #gpu.address_space<workgroup>>
      %b = memref.load %x[%t] : memref<32xf32>
      %c = arith.mulf %a, %b : f32
      memref.store %c, %x[%t] : memref<32xf32>
      gpu.return
    }
    // Loads of constants further down move before the wait, in their order, with what computes their addresses and views: not
    // one whose address another kernel wrote, nor one of memory that this one writes, nor one that runs only sometimes, nor any
    // behind an assertion.
    // CHECK-LABEL: gpu.func @further
    // CHECK:         arith.addi
    // CHECK-NEXT:    memref.load %arg0
    // CHECK-NEXT:    %[[EVEN:.*]] = memref.subview %arg0
    // CHECK-NEXT:    memref.load %[[EVEN]]
    // CHECK-NEXT:    nvvm.griddepcontrol{{ +}}wait
    // CHECK-NEXT:    memref.load %arg1
    // CHECK-NEXT:    arith.fptoui
    // CHECK-NEXT:    arith.index_cast
    // CHECK-NEXT:    memref.load %arg0
    // CHECK-NEXT:    memref.load %arg1
    // CHECK-NEXT:    scf.if
    // CHECK-NEXT:      memref.load %arg0
    // CHECK:         cf.assert
    // CHECK-NEXT:    memref.load %arg0
    gpu.func @further(%w: memref<32xf32>, %x: memref<32xf32>, %safe: i1) kernel {
      %t = gpu.thread_id x
      %c1 = arith.constant 1 : index
      %a = memref.load %x[%t] : memref<32xf32>
      %next = arith.addi %t, %c1 : index
      %b = memref.load %w[%next] : memref<32xf32>
      %place = arith.fptoui %a : f32 to i64
      %i = arith.index_cast %place : i64 to index
      %c = memref.load %w[%i] : memref<32xf32>
      %d = memref.load %x[%next] : memref<32xf32>
      %even = memref.subview %w[0] [16] [2] : memref<32xf32> to memref<16xf32, strided<[2]>>
      %e = memref.load %even[%t] : memref<16xf32, strided<[2]>>
      %f = scf.if %safe -> (f32) {
        %g = memref.load %w[%t] : memref<32xf32>
        scf.yield %g : f32
      } else {
        scf.yield %a : f32
      }
      cf.assert %safe, "out of range"
      %g = memref.load %w[%t] : memref<32xf32>
      %ab = arith.addf %a, %b : f32
      %cd = arith.addf %c, %d : f32
      %ef = arith.addf %e, %f : f32
      %abcd = arith.addf %ab, %cd : f32
      %efg = arith.addf %ef, %g : f32
      %all = arith.addf %abcd, %efg : f32
      memref.store %all, %x[%t] : memref<32xf32>
      gpu.return
    }
    // None where others stand before the wait already, since its template chose, and none that are many.
    // CHECK-LABEL: gpu.func @chosen
    // CHECK:         memref.load %arg0
    // CHECK-NEXT:    nvvm.griddepcontrol{{ +}}wait
    // CHECK-NEXT:    memref.load %arg1
    // CHECK-NEXT:    arith.xori
    // CHECK-NEXT:    memref.load %arg0
    gpu.func @chosen(%w: memref<32xf32>, %x: memref<32xf32>) kernel {
      %t = gpu.thread_id x
      %c1 = arith.constant 1 : index
      %a = memref.load %w[%t] : memref<32xf32>
      %b = memref.load %x[%t] : memref<32xf32>
      %next = arith.xori %t, %c1 : index
      %c = memref.load %w[%next] : memref<32xf32>
      %ab = arith.addf %a, %b : f32
      %abc = arith.addf %ab, %c : f32
      memref.store %abc, %x[%t] : memref<32xf32>
      gpu.return
    }
    // But elements at constant places, such as a position, once each, wherever they are read: not past the last one, and not of what this
    // kernel writes.
    // CHECK-LABEL: gpu.func @numbers
    // CHECK:         memref.load %arg0[%thread_id_x]
    // CHECK-NEXT:    %[[C3:.*]] = arith.constant 3 : index
    // CHECK-NEXT:    %[[N:.*]] = memref.load %arg0[%[[C3]]]
    // CHECK-NEXT:    nvvm.griddepcontrol{{ +}}wait
    // CHECK-NEXT:    memref.load %arg1
    // CHECK:         scf.if
    // CHECK-NEXT:      memref.load %arg0[%c32
    // CHECK-NEXT:      memref.load %arg1[%c3
    // CHECK-NEXT:      arith.addf %[[N]], %[[N]]
    gpu.func @numbers(%w: memref<32xf32>, %x: memref<32xf32>) kernel {
      %t = gpu.thread_id x
      %c3 = arith.constant 3 : index
      %c32 = arith.constant 32 : index
      %a = memref.load %w[%t] : memref<32xf32>
      %b = memref.load %x[%t] : memref<32xf32>
      %less = arith.cmpf olt, %a, %b : f32
      scf.if %less {
        %n = memref.load %w[%c3] : memref<32xf32>
        %past = memref.load %w[%c32] : memref<32xf32>
        %own = memref.load %x[%c3] : memref<32xf32>
        %again = memref.load %w[%c3] : memref<32xf32>
        %n2 = arith.addf %n, %again : f32
        %n3 = arith.addf %n2, %past : f32
        %n4 = arith.addf %n3, %own : f32
        memref.store %n4, %x[%t] : memref<32xf32>
      }
      gpu.return
    }
    // CHECK-LABEL: gpu.func @many
    // CHECK:         nvvm.griddepcontrol{{ +}}wait
    // CHECK-NEXT:    memref.load %arg1
    // CHECK-NEXT:    memref.load %arg0
    // CHECK-NEXT:    vector.load %arg0
    gpu.func @many(%w: memref<32xf32>, %x: memref<32xf32>) kernel {
      %t = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %b = memref.load %x[%t] : memref<32xf32>
      %a = memref.load %w[%t] : memref<32xf32>
      %c = vector.load %w[%c0] : memref<32xf32>, vector<16xf32>
      %sum = vector.reduction <add>, %c : vector<16xf32> into f32
      %ab = arith.addf %a, %b : f32
      %abc = arith.addf %ab, %sum : f32
      memref.store %abc, %x[%t] : memref<32xf32>
      gpu.return
    }
    // None of memory that this kernel writes, or another one before it.
    // CHECK-LABEL: gpu.func @written
    // CHECK:         nvvm.griddepcontrol{{ +}}wait
    // CHECK-COUNT-3: memref.load
    gpu.func @written(%x: memref<32xf32>, %other: memref<32xf32>) kernel {
      %t = gpu.thread_id x
      %c1 = arith.constant 1 : index
      %a = memref.load %x[%t] : memref<32xf32>
      %b = memref.load %other[%c1] : memref<32xf32>
      %c = memref.load %x[%c1] : memref<32xf32>
      %ab = arith.addf %a, %b : f32
      %abc = arith.addf %ab, %c : f32
      memref.store %abc, %x[%t] : memref<32xf32>
      gpu.return
    }
    // A launch gives it what another kernel wrote, so that it waits first.
    // CHECK-LABEL: gpu.func @mixed
    // CHECK:         nvvm.griddepcontrol{{ +}}wait
    // CHECK-NEXT:    memref.load %arg0
    gpu.func @mixed(%x: memref<32xf32>, %y: memref<32xf32>) kernel {
      %t = gpu.thread_id x
      %a = memref.load %x[%t] : memref<32xf32>
      memref.store %a, %y[%t] : memref<32xf32>
      gpu.return
    }
    // What only launches behind it write is constant until it is complete, as they wait for that.
    // CHECK-LABEL: gpu.func @until
    // CHECK:         memref.load %arg0
    // CHECK-NEXT:    nvvm.griddepcontrol{{ +}}wait
    gpu.func @until(%x: memref<32xf32>, %y: memref<32xf32>) kernel {
      %t = gpu.thread_id x
      %a = memref.load %x[%t] : memref<32xf32>
      memref.store %a, %y[%t] : memref<32xf32>
      gpu.return
    }
    gpu.func @moves(%x: memref<32xf32>) kernel {
      %t = gpu.thread_id x
      %a = memref.load %x[%t] : memref<32xf32>
      memref.store %a, %x[%t] : memref<32xf32>
      gpu.return
    }
    // Behind them it is not, nor in a loop; so does one wait whose function others call, or whose operand a copy writes.
    // CHECK-LABEL: gpu.func @looped
    // CHECK:         nvvm.griddepcontrol{{ +}}wait
    // CHECK-NEXT:    memref.load %arg0
    gpu.func @looped(%x: memref<32xf32>, %y: memref<32xf32>) kernel {
      %t = gpu.thread_id x
      %a = memref.load %x[%t] : memref<32xf32>
      memref.store %a, %y[%t] : memref<32xf32>
      gpu.return
    }
    // CHECK-LABEL: gpu.func @writable
    // CHECK:         nvvm.griddepcontrol{{ +}}wait
    // CHECK-NEXT:    memref.load %arg0
    gpu.func @writable(%x: memref<32xf32>, %y: memref<32xf32>) kernel {
      %t = gpu.thread_id x
      %a = memref.load %x[%t] : memref<32xf32>
      memref.store %a, %y[%t] : memref<32xf32>
      gpu.return
    }
    // CHECK-LABEL: gpu.func @called
    // CHECK:         nvvm.griddepcontrol{{ +}}wait
    // CHECK-NEXT:    memref.load %arg0
    gpu.func @called(%x: memref<32xf32>, %y: memref<32xf32>) kernel {
      %t = gpu.thread_id x
      %a = memref.load %x[%t] : memref<32xf32>
      memref.store %a, %y[%t] : memref<32xf32>
      gpu.return
    }
    // CHECK-LABEL: gpu.func @copied
    // CHECK:         nvvm.griddepcontrol{{ +}}wait
    // CHECK-NEXT:    memref.load %arg0
    gpu.func @copied(%x: memref<32xf32>, %y: memref<32xf32>) kernel {
      %t = gpu.thread_id x
      %a = memref.load %x[%t] : memref<32xf32>
      memref.store %a, %y[%t] : memref<32xf32>
      gpu.return
    }
    // Of an entry's argument that another kernel writes it reads early what that leaves alone, as the load says; not of other
    // memory.
    // CHECK-LABEL: gpu.func @rows(
    // CHECK:         memref.load %arg0{{.*}}tinymlir.unwritten
    // CHECK-NEXT:    nvvm.griddepcontrol{{ +}}wait
    // CHECK-NEXT:    memref.load %arg0
    gpu.func @rows(%x: memref<32xf32>, %y: memref<32xf32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %a = memref.load %x[%c1] {tinymlir.unwritten} : memref<32xf32>
      %b = memref.load %x[%c0] : memref<32xf32>
      %ab = arith.addf %a, %b : f32
      memref.store %ab, %y[%c0] : memref<32xf32>
      gpu.return
    }
    // CHECK-LABEL: gpu.func @rows_of_own(
    // CHECK:         nvvm.griddepcontrol{{ +}}wait
    // CHECK-NEXT:    memref.load %arg0{{.*}}tinymlir.unwritten
    gpu.func @rows_of_own(%x: memref<32xf32>, %y: memref<32xf32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %a = memref.load %x[%c1] {tinymlir.unwritten} : memref<32xf32>
      memref.store %a, %y[%c0] : memref<32xf32>
      gpu.return
    }
    // One that reads and writes nothing waits all the same: its successor relies on it.
    // CHECK-LABEL: gpu.func @nothing
    // CHECK:         nvvm.griddepcontrol{{ +}}launch_dependents
    // CHECK:         nvvm.griddepcontrol{{ +}}wait
    // CHECK-NEXT:    gpu.return
    gpu.func @nothing() kernel {
      gpu.return
    }
    // Blocks with much workgroup memory are not started early, and wait all the same.
    // CHECK-LABEL: gpu.func @before_large
    // CHECK-NOT:     launch_dependents
    // CHECK:         nvvm.griddepcontrol{{ +}}wait
    // CHECK-LABEL: gpu.func @large
    // CHECK:         nvvm.griddepcontrol{{ +}}launch_dependents
    // CHECK:         nvvm.griddepcontrol{{ +}}wait
    gpu.func @before_large() kernel {
      gpu.return
    }
    gpu.func @large() workgroup(%s: memref<6000xf32, #gpu.address_space<workgroup>>) kernel {
      gpu.return
    }
    // CHECK-LABEL: gpu.func @before_dynamic
    // CHECK-NOT:     launch_dependents
    // CHECK-LABEL: gpu.func @dynamic
    // CHECK:         nvvm.griddepcontrol{{ +}}launch_dependents
    gpu.func @before_dynamic() kernel {
      gpu.return
    }
    gpu.func @dynamic() kernel {
      %s = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      gpu.return
    }
    // Blocks that have a multiprocessor each cannot be crowded; what they set up of their own workgroup memory precedes the wait.
    // CHECK-LABEL: gpu.func @before_alone
    // CHECK:         nvvm.griddepcontrol{{ +}}launch_dependents
    // CHECK-LABEL: gpu.func @alone
    // CHECK:         nvgpu.mbarrier.init
    // CHECK:         nvvm.griddepcontrol{{ +}}wait
    // CHECK:         memref.store
    gpu.func @before_alone() kernel {
      gpu.return
    }
    gpu.func @alone(%x: memref<32xf32>) kernel {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0.0 : f32
      %s = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      %b = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
      nvgpu.mbarrier.init %b[%c0], %c0 : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
      memref.store %zero, %x[%c0] : memref<32xf32>
      gpu.return
    }
    // CHECK: memref.global @tinymlir_dependent_launches
    // CHECK-NOT: @tinymlir_dependent_launches
  }
  // What a user wrote stays.
  // CHECK-LABEL: gpu.module @own
  // CHECK-NOT: griddepcontrol
  // CHECK: func.func @entry
  gpu.module @own attributes {tinymlir.keep} {
    gpu.func @kernel(%x: memref<32xf32>) kernel {
      gpu.return
    }
  }
  func.func @entry(%w: memref<32xf32>, %x: memref<32xf32>, %y: memref<32xf32>, %state: memref<32xf32> {tinymlir.writable}) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    gpu.launch_func @kernels::@scale blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%w : memref<32xf32>, %x : memref<32xf32>)
    %true = arith.constant true
    gpu.launch_func @kernels::@further blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%w : memref<32xf32>, %x : memref<32xf32>, %true : i1)
    gpu.launch_func @kernels::@chosen blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%w : memref<32xf32>, %x : memref<32xf32>)
    gpu.launch_func @kernels::@numbers blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%w : memref<32xf32>, %x : memref<32xf32>)
    gpu.launch_func @kernels::@many blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%w : memref<32xf32>, %x : memref<32xf32>)
    gpu.launch_func @kernels::@written blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%y : memref<32xf32>, %x : memref<32xf32>)
    gpu.launch_func @kernels::@mixed blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%w : memref<32xf32>, %y : memref<32xf32>)
    gpu.launch_func @kernels::@mixed blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%x : memref<32xf32>, %y : memref<32xf32>)
    gpu.launch_func @kernels::@until blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%state : memref<32xf32>, %y : memref<32xf32>)
    gpu.launch_func @kernels::@moves blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%state : memref<32xf32>)
    gpu.launch_func @kernels::@writable blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%state : memref<32xf32>, %y : memref<32xf32>)
    gpu.launch_func @kernels::@rows blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<32xf32>, %y : memref<32xf32>)
    %own = memref.alloc() : memref<32xf32>
    gpu.launch_func @kernels::@rows_of_own blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%own : memref<32xf32>, %y : memref<32xf32>)
    memref.dealloc %own : memref<32xf32>
    return
  }
  func.func @loop(%x: memref<32xf32>, %y: memref<32xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    scf.for %i = %c0 to %c32 step %c1 {
      gpu.launch_func @kernels::@looped blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%x : memref<32xf32>, %y : memref<32xf32>)
      gpu.launch_func @kernels::@moves blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%x : memref<32xf32>)
    }
    return
  }
  func.func @outer(%w: memref<32xf32>, %y: memref<32xf32>) {
    call @inner(%w, %y) : (memref<32xf32>, memref<32xf32>) -> ()
    return
  }
  func.func @inner(%w: memref<32xf32>, %y: memref<32xf32>) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    gpu.launch_func @kernels::@called blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%w : memref<32xf32>, %y : memref<32xf32>)
    gpu.launch_func @kernels::@nothing blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
    return
  }
  func.func @sizes() {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@before_large blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    gpu.launch_func @kernels::@large blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    %bytes = arith.constant 65536 : i32
    gpu.launch_func @kernels::@before_dynamic blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    gpu.launch_func @kernels::@dynamic blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) dynamic_shared_memory_size %bytes
    %most = arith.constant 200000 : i32
    %x = memref.alloc() : memref<32xf32>
    gpu.launch_func @kernels::@before_alone blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    gpu.launch_func @kernels::@alone blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) dynamic_shared_memory_size %most args(%x : memref<32xf32>)
    memref.dealloc %x : memref<32xf32>
    return
  }
  func.func @copies(%w: memref<32xf32>, %x: memref<32xf32>, %y: memref<32xf32>) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    memref.copy %x, %w : memref<32xf32> to memref<32xf32>
    gpu.launch_func @kernels::@copied blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%w : memref<32xf32>, %y : memref<32xf32>)
    return
  }
}
