//! Files that appear whole or not at all.

use anyhow::{Context as _, Result, bail};
use std::{
    fs::Permissions,
    io::{Error, ErrorKind, Write as _},
    os::unix::fs::PermissionsExt,
    path::Path,
};
use tempfile::NamedTempFile;

/// Whether a path names what no file can take the place of, such as `/dev/stdout` or a pipe.
pub fn is_special(path: &Path) -> bool {
    path.metadata().is_ok_and(|m| !m.is_file() && !m.is_dir())
}

/// An empty file in the folder of `path`, gone when it is dropped, that [`put`] can give its name. Fails where `path` cannot become
/// a file, so that it can be asked before the work whose result goes there.
pub fn beside(path: &Path) -> Result<NamedTempFile> {
    let what = || format!("cannot write {}", path.display());
    if path.as_os_str().is_empty() {
        bail!("a file without a name cannot be written");
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.exists() {
        bail!("{}: there is no folder {}", what(), folder.display());
    }
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => return Err(Error::from(ErrorKind::IsADirectory)).with_context(what),
        // A name that is too long, or in what is no folder.
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error).with_context(what),
        _ => {}
    }
    let permissions = Permissions::from_mode(0o666); // less the umask
    let file = tempfile::Builder::new().prefix(".tinymlir-").permissions(permissions).tempfile_in(folder);
    // Without the name of the temporary file, which says nothing.
    file.map_err(|error| Error::from(error.kind())).with_context(what)
}

/// Gives a file its name, in place of what was there.
pub fn put(file: NamedTempFile, path: &Path) -> Result<()> {
    file.persist(path).map_err(|e| e.error).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(())
}

/// Replaces the file at `path` by `bytes`; a failure leaves what was there. A device or a pipe is written to.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let what = || format!("cannot write {}", path.display());
    if is_special(path) {
        return std::fs::write(path, bytes).with_context(what);
    }
    let mut file = beside(path)?;
    file.write_all(bytes).with_context(what)?;
    put(file, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_become_a_file_is_refused_before_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        drop(beside(&at("new")).unwrap());
        assert_eq!(folder.path().read_dir().unwrap().count(), 0, "it leaves nothing");
        std::fs::write(at("file"), "x").unwrap();
        let said = |path: &Path| format!("{:#}", beside(path).unwrap_err());
        assert!(said(folder.path()).ends_with(": is a directory"), "{}", said(folder.path()));
        assert!(said(&at("none/a")).contains("/none/a: there is no folder /"), "{}", said(&at("none/a")));
        assert!(said(&at("file/a")).contains("Not a directory"), "{}", said(&at("file/a")));
        assert!(said(&at(&"a".repeat(300))).contains("File name too long"));
        assert!(said(Path::new("")).contains("without a name"));
        drop(beside(&at(&"a".repeat(255))).unwrap());
    }

    #[test]
    fn a_device_is_written_to_and_not_replaced() {
        // A link, so that a fault here replaces it and not the system's device.
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("null");
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        write_whole(&link, b"x").unwrap();
        assert!(is_special(&link));
        write_whole(&folder.path().join("file"), b"x").unwrap();
        assert_eq!(folder.path().read_dir().unwrap().count(), 2);
    }
}
