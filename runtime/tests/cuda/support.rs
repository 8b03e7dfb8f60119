//! The functions of the runtime as compiled code declares them, and two kernels to call them with.

use std::ffi::{c_char, c_void};
use std::ptr::null_mut;

use tinymlir_runtime::cuda::{DeviceBuffer, Memory};

unsafe extern "C" {
    pub fn mgpuModuleLoadJIT(ptx: *const c_void, level: i32) -> *mut c_void;
    pub fn mgpuModuleUnload(module: *mut c_void);
    pub fn mgpuModuleGetFunction(module: *mut c_void, name: *const c_char) -> *const c_void;
    pub fn mgpuLaunchKernel(
        kernel: *const c_void,
        grid_x: i64,
        grid_y: i64,
        grid_z: i64,
        block_x: i64,
        block_y: i64,
        block_z: i64,
        shared_memory: i32,
        stream: *mut c_void,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void,
        count: u64,
    );
    pub fn mgpuLaunchClusterKernel(
        kernel: *const c_void,
        cluster_x: i64,
        cluster_y: i64,
        cluster_z: i64,
        grid_x: i64,
        grid_y: i64,
        grid_z: i64,
        block_x: i64,
        block_y: i64,
        block_z: i64,
        shared_memory: i32,
        stream: *mut c_void,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void,
    );
    pub fn mgpuStreamCreate() -> *mut c_void;
    pub fn mgpuStreamSynchronize(stream: *mut c_void);
    pub fn mgpuStreamWaitEvent(stream: *mut c_void, event: *mut c_void);
    pub fn mgpuEventCreate() -> *mut c_void;
    pub fn mgpuEventRecord(event: *mut c_void, stream: *mut c_void);
    pub fn mgpuEventDestroy(event: *mut c_void);
    pub fn mgpuMemAlloc(bytes: i64, stream: *mut c_void, shared: u8) -> *mut c_void;
    pub fn mgpuMemFree(pointer: *mut c_void, stream: *mut c_void);
    pub fn mgpuMemset32(target: *mut c_void, value: u32, count: u64, stream: *mut c_void);
    pub fn mgpuMemcpy(target: *mut c_void, source: *const c_void, bytes: u64, stream: *mut c_void);
    pub fn mgpuSetDefaultDevice(ordinal: i32);
    pub fn mgpuTensorMapEncodeTiledMemref(
        rank: i64,
        descriptor: *const c_void,
        data_type: i64,
        interleave: i64,
        swizzle: i64,
        promotion: i64,
        fill: i64,
        tile: *const i64,
    ) -> *mut c_void;
}

/// `add(x, v)`: x[thread] += v, thread counted over one dimension. `wild()`: a write to an
/// address that nobody owns.
pub const PTX: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 x, .param .f32 v) {
  .reg .b64 %rd<4>; .reg .b32 %r<5>; .reg .f32 %f<4>;
  ld.param.u64 %rd1, [x]; ld.param.f32 %f1, [v];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %rd2, %r4, 4; add.u64 %rd3, %rd1, %rd2;
  ld.f32 %f2, [%rd3]; add.f32 %f3, %f2, %f1; st.f32 [%rd3], %f3;
  ret;
}
.visible .entry wild() {
  .reg .b64 %rd<2>; .reg .b32 %r<2>;
  mov.u64 %rd1, 64; mov.u32 %r1, 1; st.u32 [%rd1], %r1;
  ret;
}
\0";

/// A loaded module, unloaded at the end of its test.
pub struct Module(pub *mut c_void);

impl Module {
    pub fn new() -> Self {
        // SAFETY: NUL-terminated PTX that lives forever.
        Module(unsafe { mgpuModuleLoadJIT(PTX.as_ptr().cast(), 3) })
    }

    pub fn launch(&self, name: &std::ffi::CStr, grid: [i64; 3], threads: i64, parameters: &mut [*mut c_void]) {
        // SAFETY: the tests pass each kernel's own parameters.
        unsafe {
            let kernel = mgpuModuleGetFunction(self.0, name.as_ptr());
            let [x, y, z] = grid;
            let stream = mgpuStreamCreate();
            mgpuLaunchKernel(kernel, x, y, z, threads, 1, 1, 0, stream, parameters.as_mut_ptr(), null_mut(), 2);
        }
    }

    /// `x[0..n] += value` with `n` a multiple of 32.
    pub fn add(&self, mut x: *mut f32, value: f32, n: usize) {
        let mut value = value;
        let mut parameters = [(&raw mut x).cast(), (&raw mut value).cast()];
        self.launch(c"add", [n as i64 / 32, 1, 1], 32, &mut parameters);
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: loaded by `new`, not used again.
        unsafe { mgpuModuleUnload(self.0) };
    }
}

pub fn floats(buffer: &DeviceBuffer) -> Vec<f32> {
    let mut bytes = vec![0; buffer.len()];
    buffer.copy_to_host(&mut bytes).unwrap();
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

pub fn filled(n: usize, value: f32, memory: Memory) -> DeviceBuffer {
    DeviceBuffer::from_host(&value.to_le_bytes().repeat(n), memory).unwrap()
}
