//! The artefact cache: what was compiled, kept on disk under a hash of everything that it depends on.
//!
//! One file an artefact, in a directory that only its owner can write: `$TINYMLIR_CACHE/artefacts`, else
//! `$XDG_CACHE_HOME/tinymlir/artefacts`, else `~/.cache/tinymlir/artefacts`. A file starts with the hash of the rest and is
//! taken for absent when that does not match; it appears under its name complete or not at all, so that programs may run
//! side by side. When the directory outgrows its bound, files that were not used for longest go. No failure here is an
//! error: then things are compiled.

use crate::io::write_atomically;
use sha2::{Digest, Sha256};
use std::{
    fs::{self, File},
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    time::SystemTime,
};

/// What the directory may hold, in bytes.
const BOUND: u64 = 512 << 20;
const HASH: usize = 32;

/// A hash over everything that an artefact depends on.
pub struct Key(Sha256);

impl Key {
    /// Starts with what this program is: another build compiles differently.
    pub fn new() -> Option<Key> {
        let program = fs::metadata(std::env::current_exe().ok()?).ok()?;
        let mut key = Key(Sha256::new());
        key.add(env!("CARGO_PKG_VERSION").as_bytes());
        let identity = [program.len() as i64, program.mtime(), program.mtime_nsec(), program.ino() as i64];
        identity.iter().for_each(|n| key.add(&n.to_ne_bytes()));
        Some(key)
    }

    /// Adds a part. Parts do not run into each other.
    pub fn add(&mut self, part: &[u8]) {
        self.0.update((part.len() as u64).to_ne_bytes());
        self.0.update(part);
    }

    fn name(&self) -> String {
        self.0.clone().finalize().iter().map(|b| format!("{b:02x}")).collect()
    }
}

/// A directory of artefacts.
pub struct Cache {
    directory: PathBuf,
    bound: u64,
}

impl Cache {
    /// The user's cache; `None` where there is no place for one that others cannot write.
    pub fn open() -> Option<Cache> {
        Cache::at(directory()?, BOUND)
    }

    fn at(directory: PathBuf, bound: u64) -> Option<Cache> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory).ok()?;
        let metadata = fs::metadata(&directory).ok()?;
        // SAFETY: it only returns a number.
        let ours = metadata.uid() == unsafe { libc::geteuid() };
        (ours && metadata.permissions().mode() & 0o022 == 0).then_some(Cache { directory, bound })
    }

    /// The artefact of that key, if there is an undamaged one.
    pub fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let path = self.directory.join(key.name());
        let mut bytes = fs::read(&path).ok()?;
        if bytes.len() < HASH || bytes[..HASH] != Sha256::digest(&bytes[HASH..])[..] {
            let _ = fs::remove_file(&path);
            return None;
        }
        // What was used last stays longest.
        let _ = File::options().append(true).open(&path).and_then(|f| f.set_modified(SystemTime::now()));
        Some(bytes.split_off(HASH))
    }

    /// Keeps an artefact.
    pub fn put(&self, key: &Key, artefact: &[u8]) {
        let mut bytes = Sha256::digest(artefact).to_vec();
        bytes.extend(artefact);
        if bytes.len() as u64 <= self.bound && write_atomically(&self.directory.join(key.name()), &bytes).is_ok() {
            self.trim();
        }
    }

    /// Removes the files that were not used for longest until the rest fits.
    fn trim(&self) {
        let files = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let mut files: Vec<_> = files
            .filter_map(|f| {
                f.metadata().ok().map(|m| (m.modified().unwrap_or(SystemTime::UNIX_EPOCH), m.len(), f.path()))
            })
            .collect();
        files.sort();
        let mut total: u64 = files.iter().map(|(_, size, _)| size).sum();
        for (_, size, path) in files {
            if total <= self.bound {
                break;
            }
            if fs::remove_file(path).is_ok() {
                total -= size;
            }
        }
    }
}

/// Removes every artefact.
pub fn clear() -> std::io::Result<()> {
    match directory().map(fs::remove_dir_all) {
        Some(Err(error)) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn directory() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let home = || variable("HOME").map(|home| home.join(".cache"));
    let ours = || variable("XDG_CACHE_HOME").or_else(home).map(|cache| cache.join("tinymlir"));
    let directory = variable("TINYMLIR_CACHE").or_else(ours)?;
    directory.is_absolute().then(|| directory.join(Path::new("artefacts")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(part: &str) -> Key {
        let mut key = Key::new().unwrap();
        key.add(part.as_bytes());
        key
    }

    #[test]
    fn artefacts_come_back_unless_damaged() {
        let place = tempfile::tempdir().unwrap();
        let cache = Cache::at(place.path().join("artefacts"), 1000).unwrap();
        assert_eq!(cache.get(&key("a")), None);
        cache.put(&key("a"), b"code");
        assert_eq!(cache.get(&key("a")).as_deref(), Some(&b"code"[..]));
        assert_eq!(cache.get(&key("b")), None);

        let path = cache.directory.join(key("a").name());
        let mut bytes = fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, bytes).unwrap();
        assert_eq!(cache.get(&key("a")), None);
        assert!(!path.exists());
    }

    #[test]
    fn what_was_not_used_for_longest_goes() {
        let place = tempfile::tempdir().unwrap();
        let cache = Cache::at(place.path().join("artefacts"), 1000).unwrap();
        for name in ["a", "b"] {
            cache.put(&key(name), &[0; 400]);
            let old = SystemTime::now() - std::time::Duration::from_secs(if name == "a" { 20 } else { 10 });
            File::options()
                .append(true)
                .open(cache.directory.join(key(name).name()))
                .unwrap()
                .set_modified(old)
                .unwrap();
        }
        assert!(cache.get(&key("a")).is_some());
        cache.put(&key("c"), &[0; 400]);
        assert!(cache.get(&key("b")).is_none());
        assert!(cache.get(&key("a")).is_some() && cache.get(&key("c")).is_some());
        cache.put(&key("d"), &[0; 2000]);
        assert!(cache.get(&key("d")).is_none());
    }

    #[test]
    fn a_directory_that_others_can_write_is_not_used() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("artefacts");
        assert!(Cache::at(directory.clone(), 1000).is_some());
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(Cache::at(directory, 1000).is_none());
    }

    #[test]
    fn parts_of_a_key_do_not_run_together() {
        let two = |a: &str, b: &str| {
            let mut key = key(a);
            key.add(b.as_bytes());
            key.name()
        };
        assert_ne!(two("ab", "c"), two("a", "bc"));
        assert_eq!(two("ab", "c"), two("ab", "c"));
    }
}
