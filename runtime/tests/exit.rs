//! How failures end a program: one message on stderr after everything printed, exit status 1.
//! Each case runs in a process of its own, this test's binary again.

use std::process::{Command, Output};

unsafe extern "C" {
    fn tinymlir_fail(text: *const u8, len: i64) -> !;
    fn tinymlir_assert_fail(message: *const std::ffi::c_char) -> !;
    fn printString(text: *const std::ffi::c_char);
    fn _mlir_memref_to_llvm_alloc(size: i64) -> *mut u8;
    fn _mlir_memref_to_llvm_free(pointer: *mut u8);
    fn mgpuStreamCreate() -> *mut std::ffi::c_void;
    fn cblas_sgemm(
        order: i32,
        transpose_a: i32,
        transpose_b: i32,
        m: i32,
        n: i32,
        k: i32,
        alpha: f32,
        a: *const f32,
        lda: i32,
        b: *const f32,
        ldb: i32,
        beta: f32,
        c: *mut f32,
        ldc: i32,
    );
}

/// Runs `case` of [`child`] in a process of its own.
fn run(case: &str, environment: &[(&str, &str)]) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .env("TINYMLIR_TEST_CASE", case)
        .envs(environment.iter().copied())
        .output()
        .unwrap()
}

#[test]
fn child() {
    let Ok(case) = std::env::var("TINYMLIR_TEST_CASE") else { return };
    // SAFETY: the functions get what they ask for, except where the case is about that.
    unsafe {
        match case.as_str() {
            "fail" => {
                print!("from rust, ");
                printString(c"open line".as_ptr());
                tinymlir_fail("größer".as_ptr(), 8)
            }
            "assert" => tinymlir_assert_fail(c"index out of range".as_ptr()),
            "abort" => {
                let table = tinymlir_runtime::symbols();
                let (_, address) = table.iter().find(|(name, _)| *name == "abort").unwrap();
                std::mem::transmute::<*const (), extern "C" fn() -> !>(*address)()
            }
            "double free" => {
                let pointer = _mlir_memref_to_llvm_alloc(8);
                _mlir_memref_to_llvm_free(pointer);
                _mlir_memref_to_llvm_free(pointer);
            }
            "negative size" => drop(_mlir_memref_to_llvm_alloc(-8)),
            "too much" => drop(_mlir_memref_to_llvm_alloc(i64::MAX)),
            "exit" => {
                printString(c"open line".as_ptr());
                libc::exit(3)
            }
            "no driver" => drop(mgpuStreamCreate()),
            "gemm" => gemm(2),
            "bad gemm" => gemm(1),
            other => panic!("no case {other}"),
        }
    }
}

/// 2 by 2 by 2 with this leading dimension of A.
fn gemm(lda: i32) {
    let (a, b, mut c) = ([1.0f32, 2.0, 3.0, 4.0], [1.0f32, 0.0, 0.0, 1.0], [0.0f32; 4]);
    // SAFETY: matrices of two rows and columns; a wrong leading dimension is refused.
    unsafe {
        cblas_sgemm(101, 111, 111, 2, 2, 2, 1.0, a.as_ptr(), lda, b.as_ptr(), 2, 0.0, c.as_mut_ptr(), 2);
    }
    println!("product {c:?}");
}

#[track_caller]
fn assert_fails(output: &Output, message: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.lines().any(|line| line.starts_with("error: ") && line.contains(message)), "{stderr}");
}

#[test]
fn a_failed_check_prints_after_what_was_printed() {
    let output = run("fail", &[]);
    assert_fails(&output, "größer");
    assert!(String::from_utf8_lossy(&output.stdout).contains("from rust, open line"));
    assert_fails(&run("assert", &[]), "index out of range");
    assert_fails(&run("abort", &[]), "aborted");
}

#[test]
fn bad_memory_requests_are_errors() {
    assert_fails(&run("double free", &[]), "freed already");
    assert_fails(&run("negative size", &[]), "-8 bytes");
    assert_fails(&run("too much", &[]), "out of memory");
}

#[test]
fn an_open_line_survives_exit() {
    let output = run("exit", &[]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stdout).contains("open line"));
}

#[test]
fn a_named_blas_that_cannot_be_loaded_ends_the_program() {
    assert_fails(&run("gemm", &[("TINYMLIR_BLAS", "/nonexistent/libblas.so")]), "/nonexistent/libblas.so");
    assert_fails(&run("gemm", &[("TINYMLIR_BLAS", "libc.so.6")]), "no cblas_sgemm");
}

#[test]
fn products_are_the_same_with_and_without_a_library() {
    for environment in [&[][..], &[("TINYMLIR_BLAS", "builtin")]] {
        let output = run("gemm", environment);
        assert!(String::from_utf8_lossy(&output.stdout).contains("product [1.0, 2.0, 3.0, 4.0]"));
        assert!(output.status.success());
    }
    assert_fails(&run("bad gemm", &[]), "cblas_sgemm: the leading dimension 1 is less than");
}

#[test]
fn without_a_driver_the_first_call_says_so() {
    let output = run("no driver", &[]);
    match tinymlir_runtime::cuda::available() {
        Ok(()) => assert!(output.status.success()),
        Err(error) => assert_fails(&output, &error.to_string()),
    }
}
