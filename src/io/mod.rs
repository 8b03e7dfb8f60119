//! Files that hold arrays.

pub mod npy;
pub mod safetensors;

use anyhow::{Context, Result};
use std::{fs::Permissions, io::Write, os::unix::fs::PermissionsExt, path::Path};

/// Files that are complete on disk but not yet under their names, so that several appear together or not at all.
#[derive(Default)]
pub struct Staged(Vec<(tempfile::NamedTempFile, std::path::PathBuf)>);

impl Staged {
    /// Writes `bytes` to a temporary file beside `path`. Dropping `self` removes it.
    pub fn add(&mut self, path: &Path, bytes: &[u8]) -> Result<()> {
        let directory = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut file = tempfile::Builder::new()
            .prefix(".tinymlir-")
            .permissions(Permissions::from_mode(0o666)) // less the umask
            .tempfile_in(directory)
            .with_context(|| format!("cannot write {}", path.display()))?;
        file.write_all(bytes).with_context(|| format!("cannot write {}", path.display()))?;
        self.0.push((file, path.to_owned()));
        Ok(())
    }

    /// Moves every file to its name, replacing what was there.
    pub fn commit(self) -> Result<()> {
        for (file, path) in self.0 {
            file.persist(&path).map_err(|e| e.error).with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }
}

/// Replaces the file at `path` by `bytes`; a failure leaves what was there.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    // A device or a pipe, such as /dev/stdout, cannot be replaced.
    if path.metadata().is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        return std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()));
    }
    let mut staged = Staged::default();
    staged.add(path, bytes)?;
    staged.commit()
}
