//! The CUDA runtime on a card, called as compiled code calls it. `cargo test -- --ignored` where
//! there is one. Cases that end the program run in a process of their own, this binary again.

use std::ffi::c_void;
use std::process::Command;
use std::ptr::null_mut;

use tinymlir_runtime::cuda::{self, DeviceBuffer, Graph, Memory};

mod support;

use support::*;

#[test]
#[ignore = "needs a GPU"]
fn kernels_run_on_either_memory() {
    let module = Module::new();
    cuda::load_pending().unwrap();
    let before = cuda::launches();
    for memory in [Memory::Device, Memory::Managed] {
        let buffer = filled(96, 1.0, memory);
        module.add(buffer.ptr().cast(), 2.0, 96);
        module.add(buffer.ptr().cast(), 0.5, 96);
        assert_eq!(floats(&buffer), [3.5; 96], "{memory:?}");
        assert_eq!(cuda::memory_of(buffer.ptr().wrapping_add(7)), Some(memory));
    }
    assert!(cuda::launches() >= before + 4);
    println!("{} launches {} kernels {}", cuda::device().unwrap(), cuda::launches(), cuda::kernels());
}

#[test]
#[ignore = "needs a GPU"]
fn an_empty_grid_launches_nothing() {
    let module = Module::new();
    let buffer = filled(32, 1.0, Memory::Device);
    module.add(buffer.ptr().cast(), 5.0, 0);
    assert_eq!(floats(&buffer), [1.0; 32]);
}

#[test]
#[ignore = "needs a GPU"]
fn device_memory_is_reused_at_once_and_managed_after_a_wait() {
    // SAFETY: as compiled code does.
    unsafe {
        let stream = mgpuStreamCreate();
        // A size that no other test uses.
        let bytes = 123 * 512;
        let first = mgpuMemAlloc(bytes, stream, 0);
        mgpuMemFree(first, stream);
        assert_eq!(mgpuMemAlloc(bytes, stream, 0), first);
        assert!(cuda::is_live(first.cast()));
        assert!(cuda::free_if_live(first.cast()));
        assert!(!cuda::free_if_live(first.cast()));

        let managed = mgpuMemAlloc(bytes, stream, 1);
        mgpuMemFree(managed, stream);
        let other = mgpuMemAlloc(bytes, stream, 1);
        assert_ne!(other, managed, "the device may still be using it");
        mgpuStreamSynchronize(stream);
        assert_eq!(mgpuMemAlloc(bytes, stream, 1), managed);
        mgpuMemFree(managed, stream);
        mgpuMemFree(other, stream);
        mgpuMemFree(mgpuMemAlloc(0, stream, 1), stream);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn results_are_adopted_by_a_buffer() {
    // SAFETY: as compiled code does.
    let pointer = unsafe {
        let stream = mgpuStreamCreate();
        let pointer = mgpuMemAlloc(64, stream, 0);
        mgpuMemset32(pointer, 1.5f32.to_bits(), 16, stream);
        pointer
    };
    let buffer = DeviceBuffer::adopt(pointer.cast()).unwrap();
    assert_eq!(buffer.len(), 64);
    assert!(!cuda::free_if_live(pointer.cast()), "the buffer owns it");
    assert!(DeviceBuffer::adopt(pointer.cast()).is_none());
    assert_eq!(floats(&buffer), [1.5; 16]);
    assert!(buffer.copy_to_host(&mut [0; 65]).is_err());
}

#[test]
#[ignore = "needs a GPU"]
fn queued_contents_arrive_in_order_and_may_change_at_once() {
    let module = Module::new();
    for memory in [Memory::Device, Memory::Managed] {
        let [x, y] = [0; 2].map(|_| filled(64, 0.0, memory));
        let mut contents = [0u8; 256];
        // More than what is staged at once; each addition reads what was queued right before it.
        for round in 0..2000 {
            contents.as_chunks_mut::<4>().0.fill((round as f32).to_ne_bytes());
            x.queue_from_host(&contents).unwrap();
            contents.fill(0xff);
            if round % 500 == 499 {
                module.add(x.ptr().cast(), 0.5, 64);
                assert_eq!(floats(&x), [round as f32 + 0.5; 64]);
            }
        }
        y.queue_from_host(&[0; 0]).unwrap();
        y.queue_from_host(&1.5f32.to_ne_bytes()).unwrap();
        assert_eq!(floats(&y)[..2], [1.5, 0.0]);
        assert!(y.queue_from_host(&[0; 257]).is_err());
    }
    let long = DeviceBuffer::alloc(1 << 20, Memory::Device).unwrap();
    long.queue_from_host(&vec![7; 1 << 20]).unwrap();
    let mut back = vec![0; 1 << 20];
    long.copy_to_host(&mut back).unwrap();
    assert!(back.iter().all(|byte| *byte == 7));
}

#[test]
#[ignore = "needs a GPU"]
fn a_graph_repeats_a_call_with_its_own_memory() {
    let module = Module::new();
    let x = filled(64, 0.0, Memory::Managed);
    // As compiled code with the synchronous lowering: scratch memory, events and waits inside.
    let call = || {
        // SAFETY: as compiled code does.
        unsafe {
            let stream = mgpuStreamCreate();
            let scratch = mgpuMemAlloc(256, stream, 0);
            mgpuMemset32(scratch, 2.0f32.to_bits(), 64, stream);
            module.add(scratch.cast(), 1.0, 64);
            mgpuStreamSynchronize(stream);
            let event = mgpuEventCreate();
            mgpuEventRecord(event, stream);
            mgpuStreamWaitEvent(stream, event);
            mgpuEventDestroy(event);
            mgpuMemFree(scratch, stream);
            let result = mgpuMemAlloc(256, stream, 0);
            mgpuMemcpy(result, scratch, 256, stream);
            module.add(x.ptr().cast(), 1.0, 64);
            module.add(result.cast(), 1.0, 64);
            mgpuStreamSynchronize(stream);
            (scratch, result)
        }
    };
    let (_, warm) = call();
    assert!(cuda::free_if_live(warm.cast()));
    let (graph, (scratch, result)) = Graph::capture(call).unwrap();
    assert_eq!(graph.kernels(), 3);
    assert_eq!(floats(&x)[0], 1.0, "capturing runs nothing");
    let before = cuda::launches();
    // What is allocated outside must not be the graph's memory.
    let outside = filled(64, 9.0, Memory::Device);
    assert_ne!(outside.ptr(), scratch.cast());
    for _ in 0..3 {
        graph.launch().unwrap();
    }
    assert_eq!(floats(&x), [4.0; 64]);
    assert!(cuda::launches() >= before + 9);
    assert_eq!(floats(&outside), [9.0; 64]);
    let result = DeviceBuffer::adopt(result.cast()).unwrap();
    assert_eq!(floats(&result), [4.0; 64]);
    drop(graph);
    assert_eq!(floats(&result), [4.0; 64]);
}

#[test]
#[ignore = "needs a GPU"]
fn a_capture_may_miss_the_pool() {
    let module = Module::new();
    let x = filled(32, 0.0, Memory::Device);
    module.add(x.ptr().cast(), 0.0, 32);
    let (graph, ()) = Graph::capture(|| {
        for shared in [0, 1] {
            // SAFETY: as compiled code does.
            unsafe {
                let stream = mgpuStreamCreate();
                let scratch = mgpuMemAlloc(789 * 512, stream, shared);
                mgpuMemset32(scratch, 0, 1, stream);
                mgpuMemFree(scratch, stream);
            }
        }
        module.add(x.ptr().cast(), 1.0, 32);
    })
    .unwrap();
    graph.launch().unwrap();
    assert_eq!(floats(&x), [1.0; 32]);
    let (_, refused) = Graph::capture(|| x.copy_to_host(&mut [0; 4])).unwrap();
    assert!(refused.unwrap_err().to_string().contains("while a graph is being captured"));
}

#[test]
#[ignore = "needs a GPU"]
fn threads_have_streams_and_memory_of_their_own() {
    let module = Module::new();
    cuda::load_pending().unwrap();
    let handle = module.0 as usize;
    std::thread::scope(|scope| {
        for thread in 0..8 {
            scope.spawn(move || {
                let module = std::mem::ManuallyDrop::new(Module(handle as *mut c_void));
                for round in 0..50 {
                    let value = (thread * 100 + round) as f32;
                    let memory = if round % 2 == 0 { Memory::Device } else { Memory::Managed };
                    let buffer = filled(1024, value, memory);
                    module.add(buffer.ptr().cast(), 1.0, 1024);
                    assert_eq!(floats(&buffer), vec![value + 1.0; 1024]);
                }
            });
        }
    });
}

#[test]
#[ignore = "needs a GPU"]
fn clusters_launch_where_the_chip_has_them() {
    if cuda::device().unwrap().compute_capability.0 < 9 {
        return;
    }
    let module = Module::new();
    let buffer = filled(1024, 1.0, Memory::Device);
    for cluster in [1i64, 4, 8, 16] {
        let (mut x, mut value) = (buffer.ptr(), 1.0f32);
        let mut parameters = [(&raw mut x).cast(), (&raw mut value).cast::<c_void>()];
        // SAFETY: the kernel's own parameters.
        unsafe {
            let kernel = mgpuModuleGetFunction(module.0, c"add".as_ptr());
            let stream = mgpuStreamCreate();
            mgpuLaunchClusterKernel(
                kernel,
                cluster,
                1,
                1,
                32,
                1,
                1,
                32,
                1,
                1,
                0,
                stream,
                parameters.as_mut_ptr(),
                null_mut(),
            );
        }
    }
    assert_eq!(floats(&buffer), [5.0; 1024]);
}

#[test]
#[ignore = "needs a GPU"]
fn equal_tensor_maps_are_one() {
    if cuda::device().unwrap().compute_capability.0 < 9 {
        return;
    }
    let buffer = filled(64 * 64, 1.0, Memory::Device);
    let at = buffer.ptr() as i64;
    let descriptor = [at, at, 0, 64, 64, 64, 1];
    // SAFETY: rank 2 takes seven words and two tile sizes; 7 is f32.
    let map = |tile: [i64; 2]| unsafe {
        mgpuTensorMapEncodeTiledMemref(2, descriptor.as_ptr().cast(), 7, 0, 3, 0, 0, tile.as_ptr())
    };
    assert_eq!(map([64, 32]), map([64, 32]));
    assert_ne!(map([64, 32]), map([32, 32]));
}

#[test]
#[ignore = "needs a GPU"]
fn timing_counts_the_device() {
    let module = Module::new();
    let buffer = filled(1 << 20, 0.0, Memory::Device);
    module.add(buffer.ptr().cast(), 1.0, 1 << 20); // the first launch loads the module and touches the memory
    cuda::synchronize().unwrap();
    let ((), once) = cuda::time(|| module.add(buffer.ptr().cast(), 1.0, 1 << 20)).unwrap();
    let start = std::time::Instant::now();
    let ((), many) = cuda::time(|| (0..1000).for_each(|_| module.add(buffer.ptr().cast(), 1.0, 32))).unwrap();
    println!("one {once:?}, 1000 small launches {many:?}, {:?} on the host", start.elapsed());
    assert!(!once.is_zero() && many > once);
}

/// Runs `case` of [`child`] in a process of its own and returns its one error line.
#[track_caller]
fn error_of(case: &str) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture", "--ignored", "--test-threads=1"])
        .env("TINYMLIR_TEST_CASE", case)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    let errors: Vec<_> = stderr.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(errors.len(), 1, "{stderr}");
    println!("{}", errors[0]);
    stderr.into_owned()
}

#[test]
#[ignore = "needs a GPU"]
fn child() {
    let Ok(case) = std::env::var("TINYMLIR_TEST_CASE") else { return };
    let module = Module::new();
    // SAFETY: as compiled code does, except for what the case is about.
    unsafe {
        match case.as_str() {
            "grid" => module.launch(c"wild", [1, 70_000, 1], 32, &mut []),
            "huge grid" => module.launch(c"wild", [1 << 33, 1, 1], 32, &mut []),
            "wild" => {
                module.launch(c"wild", [1, 1, 1], 1, &mut []);
                mgpuStreamSynchronize(mgpuStreamCreate());
            }
            "ptx" => {
                let bad = c".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry broken() { nonsense; }";
                let module = mgpuModuleLoadJIT(bad.as_ptr().cast(), 3);
                mgpuModuleGetFunction(module, c"broken".as_ptr());
            }
            "kernel" => drop(mgpuModuleGetFunction(module.0, c"missing".as_ptr())),
            "managed" => drop(mgpuMemAlloc(1 << 45, mgpuStreamCreate(), 1)),
            "device" => drop(mgpuMemAlloc(1 << 45, mgpuStreamCreate(), 0)),
            "double free" => {
                let pointer = mgpuMemAlloc(64, null_mut(), 0);
                mgpuMemFree(pointer, null_mut());
                mgpuMemFree(pointer, null_mut());
            }
            "ordinal" => {
                mgpuStreamCreate();
                mgpuSetDefaultDevice(0);
                mgpuSetDefaultDevice(1);
            }
            other => panic!("no case {other}"),
        }
    }
    println!("went on");
}

#[test]
#[ignore = "needs a GPU"]
fn the_first_error_ends_the_program() {
    assert!(error_of("grid").contains("cuLaunchKernel: CUDA_ERROR_INVALID_VALUE (kernel @wild, grid 1x70000x1"));
    assert!(error_of("huge grid").contains("grid 8589934592x1x1"));
    assert!(error_of("wild").contains("CUDA_ERROR_ILLEGAL_ADDRESS (kernel @wild"));
    let ptx = error_of("ptx");
    assert!(ptx.contains("cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX (kernel @broken, sm_"), "{ptx}");
    assert!(ptx.contains("nonsense"), "{ptx}");
    assert!(error_of("kernel").contains("cuModuleGetFunction: CUDA_ERROR_NOT_FOUND (kernel @missing)"));
    assert!(error_of("managed").contains("cuMemAllocManaged: CUDA_ERROR_OUT_OF_MEMORY"));
    assert!(error_of("device").contains("cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY"));
    assert!(error_of("double free").contains("freed already"));
    assert!(error_of("ordinal").contains("device 0 is in use already"));
}
