//! Puts a result where its readers look, so that they never see half of it.

use std::io::ErrorKind;
use std::path::PathBuf;

use super::StoreError;
use super::work_dir::WorkDir;
use crate::cancel::Cancel;
use crate::fs::{self, FileError};

/// A file that is not in its place yet.
#[derive(Debug)]
pub struct NewFile<'a> {
    /// Its place.
    pub path: PathBuf,
    /// Its content.
    pub bytes: &'a [u8],
}

/// Files that belong together.
pub struct Release<'a> {
    /// The object.
    pub object: NewFile<'a>,
    /// Its description: whoever finds it finds the object it describes.
    pub json: NewFile<'a>,
    /// What it was made from, for whoever builds next; carries digests of the two, so it may be late.
    pub record: Option<NewFile<'a>>,
    /// How it was made, for people.
    pub log: Option<NewFile<'a>>,
    /// Which names beside it are of files that are about an earlier release.
    pub outdated: Box<dyn Fn(&str) -> bool + 'a>,
}

/// Replaces the files: the old description goes first and the new one comes last, so that at every moment (and after a
/// crash at any moment) a reader finds the complete old pair, no description, or the complete new pair.
///
/// `work` is inside the directory where they go.
pub fn publish(release: &Release<'_>, work: &WorkDir, cancel: &Cancel) -> Result<(), StoreError> {
    // Everything that can fail for lack of space happens here, where no reader looks.
    let object = work.write("publish.o", release.object.bytes)?;
    let json = work.write("publish.json", release.json.bytes)?;
    let record = match &release.record {
        Some(record) => Some((work.write("publish.record", record.bytes)?, &record.path)),
        None => None,
    };
    let log = match &release.log {
        Some(log) => Some((work.write("publish.log", log.bytes)?, &log.path)),
        None => None,
    };
    // Before anything is moved: what is no file is somebody's, and stays as it is.
    for file in [Some(&release.json), Some(&release.object), release.record.as_ref(), release.log.as_ref()]
        .into_iter()
        .flatten()
    {
        fs::replaceable(&file.path)?;
    }
    let old_json = work.file("old.json");

    // Two publishers of one kernel must not interleave: each one's steps would be right, their mixture wrong.
    let _lock = work.lock_parent(cancel)?;
    let had_json = match fs::rename(&release.json.path, &old_json) {
        Ok(()) => true,
        Err(error) if error.source.kind() == ErrorKind::NotFound => false,
        Err(error) => return Err(FileError::on("replace", &release.json.path)(error.source).into()),
    };
    if let Err(error) = fs::rename(&object, &release.object.path) {
        // The old object is still there, so its description may come back.
        if had_json {
            let _ = fs::rename(&old_json, &release.json.path);
        }
        return Err(error.into());
    }
    fs::rename(&json, &release.json.path)?;
    // Last: a record that is older than the pair is noticed by its digests, and only costs a rebuild.
    if let Some((record, path)) = record {
        fs::rename(&record, path)?;
    }
    for entry in fs::entries(work.parent()) {
        if entry.file_name().to_str().is_some_and(&release.outdated) {
            // For people only: one too many does no harm.
            let _ = fs::remove_file(&entry.path());
        }
    }
    if let Some((log, path)) = log {
        fs::rename(&log, path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn release<'a>(directory: &Path, object: &'a [u8], json: &'a [u8]) -> Release<'a> {
        let file = |name: &str, bytes| NewFile { path: directory.join(name), bytes };
        Release {
            object: file("k.o", object),
            json: file("k.json", json),
            record: Some(file("k.record", b"{}")),
            log: None,
            outdated: Box::new(|_| false),
        }
    }

    fn publish_in(directory: &Path, object: &[u8], json: &[u8]) -> Result<(), StoreError> {
        let work = WorkDir::create(directory, "k", &Cancel::new()).unwrap();
        publish(&release(directory, object, json), &work, &Cancel::new())
    }

    #[test]
    fn the_new_pair_replaces_the_old_one() {
        let directory = tempfile::tempdir().unwrap();
        for (object, json) in [(b"o1", b"j1"), (b"o2", b"j2")] {
            publish_in(directory.path(), object, json).unwrap();
            assert_eq!(std::fs::read(directory.path().join("k.o")).unwrap(), object);
            assert_eq!(std::fs::read(directory.path().join("k.json")).unwrap(), json);
        }
        let mut names: Vec<_> = std::fs::read_dir(directory.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["k.json", "k.o", "k.record"]);
    }

    #[test]
    fn a_directory_in_the_place_of_a_result_stays_with_what_is_in_it() {
        for name in ["k.o", "k.json", "k.record"] {
            let directory = tempfile::tempdir().unwrap();
            publish_in(directory.path(), b"o1", b"j1").unwrap();
            std::fs::remove_file(directory.path().join(name)).unwrap();
            std::fs::create_dir_all(directory.path().join(name).join("precious")).unwrap();
            let error = publish_in(directory.path(), b"o2", b"j2").unwrap_err();
            assert!(error.to_string().contains("a directory, not a regular file"), "{error}");
            assert!(directory.path().join(name).join("precious").exists());
            for (other, content) in [("k.o", b"o1"), ("k.json", b"j1")].into_iter().filter(|(other, _)| *other != name)
            {
                assert_eq!(std::fs::read(directory.path().join(other)).unwrap(), content, "{name}");
            }
        }
    }

    #[test]
    fn an_object_that_cannot_be_replaced_leaves_the_old_pair() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(directory.path().join("k.o/in the way")).unwrap();
        std::fs::write(directory.path().join("k.json"), b"old").unwrap();
        assert!(publish_in(directory.path(), b"o", b"j").is_err());
        assert_eq!(std::fs::read(directory.path().join("k.json")).unwrap(), b"old");
    }
}
