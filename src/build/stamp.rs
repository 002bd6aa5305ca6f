//! Finds out without reading the inputs that nothing has changed since the last build.
//!
//! A stamp is one digest of how everything looks that a result depends on: the call, the settings, the variables, and
//! from outside all input files, tools and headers. It is taken before a build reads anything, and stored with the record.
//! Who finds the same stamp again finds the same inputs, since nobody can change a file without changing its look. Another
//! stamp says nothing: then everything is read and compared.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::files::KernelFiles;
use super::fingerprint::CONTRACT_VERSION;
use super::request::Request;
use super::stamped::Stamped;
use super::toolchains;
use crate::fs::{self, FileLook};
use crate::options::{self, Separator};
use crate::store::digest::ContentDigest;

/// A file that was changed so shortly before it was looked at could be changed again and look the same: file systems
/// count time in steps, some of two seconds.
const SETTLED: Duration = Duration::from_secs(3);
/// How everything looked before a build.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stamp {
    digest: ContentDigest,
    /// Would every later change be seen?
    is_settled: bool,
}

impl Stamp {
    /// Looks at everything; `None` if something cannot be seen this way, or is missing: reading tells what.
    pub(super) fn take(request: &Request) -> Option<Self> {
        let now = SystemTime::now();
        let Request { kernel_infos, name, environment, .. } = request;
        let call = serde_json::to_vec(kernel_infos).ok()?;
        let text = kernel_infos.get("super_kernel_options").and_then(Value::as_str).unwrap_or_default();
        let options = options::parse(text, Separator::Hyphen).ok()?.compile_options;
        let mut looks: Vec<(String, FileLook)> = Vec::new();
        for path in input_files(kernel_infos)? {
            looks.push((path.to_owned(), FileLook::of(Path::new(path)).ok()?));
        }
        let tools = toolchains::looks(environment, &options, &mut looks)?;
        let is_settled = looks.iter().all(|(_, look)| look.is_older(now, SETTLED));
        // All settings and variables, whether they matter or not: a needless comparison does no harm. Only how much is done
        // at a time differs from build to build.
        let mut environment = environment.clone();
        environment.settings.jobs = None;
        let world = format!("{CONTRACT_VERSION}\n{name}\n{environment:?}\n{tools:?}\n{looks:?}\n");
        Some(Self { digest: ContentDigest::of_all([world.as_bytes(), &call]), is_settled })
    }

    /// For the record of the result, if every later change would be seen.
    pub(super) fn stored(
        self,
        (object, json): (ContentDigest, &[u8]),
        (ops, files): (usize, usize),
        toolchain: &str,
        warnings: &[String],
    ) -> Option<Stamped> {
        self.is_settled.then(|| Stamped {
            digest: self.digest.to_string(),
            object: object.to_string(),
            json: ContentDigest::of(json).to_string(),
            ops,
            files,
            toolchain: toolchain.to_owned(),
            warnings: warnings.to_vec(),
        })
    }

    /// The record of `files` if it has this stamp, and the results are those it was made for.
    pub(super) fn found_again(self, files: &KernelFiles) -> Option<Stamped> {
        let stamped = Stamped::read(&files.manifest())?;
        let is_same =
            |path: &Path, digest: &str| fs::read(path).is_ok_and(|bytes| ContentDigest::of(&bytes).is(digest));
        let holds = self.digest.is(&stamped.digest)
            && is_same(&files.json(), &stamped.json)
            && is_same(&files.object(), &stamped.object);
        holds.then_some(stamped)
    }
}

/// The files that the ops name; `None` for names that are no text.
fn input_files(kernel_infos: &Value) -> Option<BTreeSet<&str>> {
    let mut files = BTreeSet::new();
    for op in kernel_infos.get("op_list")?.as_array()? {
        for key in ["json_path", "bin_path"] {
            match op.get(key) {
                None | Some(Value::Null) => {}
                Some(path) => drop(files.insert(path.as_str()?)),
            }
        }
    }
    Some(files)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn stamp(text: &str, is_settled: bool) -> Stamp {
        Stamp { digest: ContentDigest::of(text.as_bytes()), is_settled }
    }

    #[test]
    fn a_stamp_is_found_again_with_the_results_it_was_made_for() {
        let folder = tempfile::tempdir().unwrap();
        let files = KernelFiles::new(folder.path(), "k");
        let results = (ContentDigest::of(b"object"), b"json".as_slice());
        assert_eq!(stamp("a", false).stored(results, (1, 1), "host", &[]), None);
        let stored = stamp("a", true).stored(results, (7, 2), "host", &["beware".to_owned()]).unwrap();
        let record = stored.put_into(b"{\n  \"version\": 2\n}\n");
        assert_eq!(serde_json::from_slice::<Value>(&record).unwrap()["version"], 2);
        std::fs::write(files.manifest(), &record).unwrap();
        std::fs::write(files.json(), b"json").unwrap();
        assert_eq!(stamp("a", true).found_again(&files), None, "there is no object");
        std::fs::write(files.object(), b"object").unwrap();
        assert_eq!(stamp("a", true).found_again(&files), Some(stored));
        assert_eq!(stamp("b", true).found_again(&files), None);
        std::fs::write(files.object(), b"tampered").unwrap();
        assert_eq!(stamp("a", true).found_again(&files), None);
        for damaged in [&record[..record.len() - 3], b"{\n  \"version\": 2\n}\n", b""] {
            std::fs::write(files.manifest(), damaged).unwrap();
            assert_eq!(Stamped::read(&files.manifest()), None);
        }
    }

    #[test]
    fn the_look_of_a_file_changes_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, b"one").unwrap();
        let look = FileLook::of(&path).unwrap();
        assert!(!look.is_older(SystemTime::now(), SETTLED), "it was just written");
        assert!(look.is_older(SystemTime::now() + Duration::from_secs(60), SETTLED));
        // Another file of the same size and times in its place.
        let times = std::fs::metadata(&path).unwrap();
        let other = folder.path().join("y");
        std::fs::write(&other, b"two").unwrap();
        std::fs::File::options().write(true).open(&other).unwrap().set_modified(times.modified().unwrap()).unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert_ne!(FileLook::of(&path).unwrap(), look);
    }

    #[test]
    fn names_that_are_no_text_are_left_to_those_who_read() {
        let infos = json!({"op_list": [{"json_path": "b", "bin_path": "a"}, {"json_path": "b", "bin_path": null}, {}]});
        assert_eq!(input_files(&infos), Some(BTreeSet::from(["a", "b"])));
        assert_eq!(input_files(&json!({"op_list": [{"json_path": [47, 255]}]})), None);
        assert_eq!(input_files(&json!({})), None);
    }
}
