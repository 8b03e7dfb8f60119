//! Files that hold arrays.

pub mod npy;
pub mod safetensors;

pub use tinymlir_report::files::write_whole as write_atomically;

use anyhow::{Context, Result};
use std::{
    io::Write,
    path::{Path, PathBuf},
};
use tinymlir_report::files::{beside, is_special, put};

/// Files that are complete on disk but not yet under their names, so that several appear together or not at all.
#[derive(Default)]
pub struct Staged {
    files: Vec<(tempfile::NamedTempFile, PathBuf)>,
    /// What cannot be replaced, such as `/dev/stdout`, and what is to be written to it.
    devices: Vec<(PathBuf, Vec<u8>)>,
}

impl Staged {
    /// Writes `bytes` to a temporary file beside `path`. Dropping `self` removes it.
    pub fn add(&mut self, path: &Path, bytes: &[u8]) -> Result<()> {
        if is_special(path) {
            self.devices.push((path.to_owned(), bytes.to_owned()));
            return Ok(());
        }
        let mut file = beside(path)?;
        file.write_all(bytes).with_context(|| format!("cannot write {}", path.display()))?;
        self.files.push((file, path.to_owned()));
        Ok(())
    }

    /// Moves every file to its name, replacing what was there.
    pub fn commit(self) -> Result<()> {
        for (file, path) in self.files {
            put(file, &path)?;
        }
        for (path, bytes) in self.devices {
            std::fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileTypeExt;

    #[test]
    fn a_device_is_written_to_and_not_replaced() {
        // A name of its own, so that a fault here replaces a link and not the system's device.
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("null");
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        let file = folder.path().join("file");
        let mut staged = Staged::default();
        staged.add(&file, b"one").unwrap();
        staged.add(&link, b"two").unwrap();
        assert!(!file.exists());
        staged.commit().unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"one");
        assert!(link.metadata().unwrap().file_type().is_char_device());
    }
}
