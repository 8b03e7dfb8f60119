//! What must hold without a driver, and where there is one as well.

use super::*;

#[test]
fn a_missing_driver_is_one_clear_error_everywhere() {
    match available() {
        Ok(()) => assert!(device().unwrap().chip().starts_with("sm_")),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            assert_eq!(device().err(), Some(error.clone()));
            assert_eq!(DeviceBuffer::alloc(16, Memory::Managed).err(), Some(error.clone()));
            assert_eq!(Graph::capture(|| ()).err(), Some(error));
        }
    }
}

#[test]
fn nothing_is_live_and_nothing_to_wait_for_where_nothing_was_queued() {
    let local = 0u8;
    assert!(!is_live(&local));
    assert!(!free_if_live((&raw const local).cast_mut()));
    assert_eq!(memory_of(&local), None);
    assert!(DeviceBuffer::adopt((&raw const local).cast_mut()).is_none());
    assert_eq!(synchronize(), Ok(()));
}

#[test]
fn constructors_only_record() {
    // Neither loads anything, so that a bad module does no harm until it is used.
    let module = module::mgpuModuleLoadJIT(c"this is not PTX".as_ptr().cast(), 2);
    assert!(!module.is_null());
    // SAFETY: as an engine's destructors do, null included.
    unsafe {
        module::mgpuModuleUnload(module);
        module::mgpuModuleUnload(std::ptr::null_mut());
    }
}
