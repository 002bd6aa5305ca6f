use super::*;

fn cache(directory: &Path, limit: u64) -> Cache {
    Cache::new(&CacheSettings { directory: directory.to_path_buf(), limit, sharing: Sharing::Own })
}

fn kernel(object: &[u8]) -> CachedKernel {
    CachedKernel {
        kernel: "k".to_owned(),
        json: b"{}\n".to_vec(),
        object: object.to_vec(),
        digest: ContentDigest::of(object),
    }
}

fn inputs(text: &str) -> Map<String, Value> {
    Map::from_iter([(text.to_owned(), Value::Null)])
}

fn key(text: &str) -> ContentDigest {
    ContentDigest::of(text.as_bytes())
}

#[test]
fn what_was_put_is_got_and_counted() {
    let directory = tempfile::tempdir().unwrap();
    let cache = cache(directory.path(), 1 << 20);
    assert_eq!(cache.get(key("a")), None);
    cache.put(key("a"), &inputs("a"), &kernel(b"bytes\nwith\nlines"));
    assert_eq!(cache.get(key("a")), Some(kernel(b"bytes\nwith\nlines")));
    let stats = cache.stats();
    assert_eq!((stats.entries, stats.hits, stats.misses), (1, 1, 1));
    assert_eq!(cache.clear().unwrap(), Cleared { entries: 1, left: None });
    assert!(!cache.directory.exists());
    assert_eq!(cache.clear().unwrap(), Cleared { entries: 0, left: None });
}

#[test]
fn what_others_have_there_is_neither_counted_nor_removed() {
    let directory = tempfile::tempdir().unwrap();
    let cache = cache(directory.path(), 1 << 20);
    cache.put(key("a"), &inputs("a"), &kernel(b"bytes"));
    let folder = cache.entries().remove(0).parent().unwrap().to_path_buf();
    let outside = directory.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    let digits = "0".repeat(64);
    let theirs = [
        cache.directory.join("notes.txt"),
        cache.directory.join("hits"),
        cache.directory.join(format!("{digits}.skc")),
        cache.directory.join("data").join(format!("{digits}.skc")),
        folder.join("thesis.skc"),
        folder.join("new-chapter"),
        // In the folder of other digits.
        folder.join(format!("{}{}.skc", if folder.ends_with("00") { "11" } else { "00" }, &digits[2..])),
        outside.join(format!("{digits}.skc")),
    ];
    for path in &theirs {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, b"theirs").unwrap();
        let file = std::fs::File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    }
    let name = if folder.ends_with("00") { "01" } else { "00" };
    std::os::unix::fs::symlink(&outside, cache.directory.join(name)).unwrap();
    std::fs::write(folder.join("new-1234-5"), b"ours, from a killed writer").unwrap();
    assert_eq!(cache.stats().entries, 1);
    // Making room does not touch them either.
    Cache { limit: 0, ..cache.clone() }.evict();
    assert_eq!(cache.stats().entries, 0);
    cache.put(key("a"), &inputs("a"), &kernel(b"bytes"));
    assert_eq!(cache.clear().unwrap(), Cleared { entries: 1, left: Some(cache.directory.clone()) });
    assert_eq!(cache.clear().unwrap(), Cleared { entries: 0, left: Some(cache.directory.clone()) });
    for path in &theirs {
        assert!(std::fs::read(path).unwrap().starts_with(b"theirs"), "{}", path.display());
    }
    assert!(!folder.join("new-1234-5").exists() && !cache.directory.join(MISSES).exists());
}

#[test]
fn damage_is_noticed_and_removed() {
    let directory = tempfile::tempdir().unwrap();
    let cache = cache(directory.path(), 1 << 20);
    cache.put(key("a"), &inputs("a"), &kernel(b"bytes"));
    let path = cache.entries().remove(0);
    let whole = std::fs::read(&path).unwrap();
    for cut in 0..whole.len() {
        std::fs::write(&path, &whole[..cut]).unwrap();
        assert_eq!(cache.get(key("a")), None, "cut at {cut}");
        assert!(!path.exists());
    }
    let mut flipped = whole.clone();
    *flipped.last_mut().unwrap() ^= 1;
    std::fs::write(&path, &flipped).unwrap();
    assert_eq!(cache.get(key("a")), None);
    // An entry under a foreign name is not trusted either.
    let other = cache.entry(&key("b").to_string());
    std::fs::create_dir_all(other.parent().unwrap()).unwrap();
    std::fs::write(&other, &whole).unwrap();
    assert_eq!(cache.get(key("b")), None);
}

#[test]
fn parts_of_two_entries_do_not_make_one() {
    let directory = tempfile::tempdir().unwrap();
    let cache = cache(directory.path(), 1 << 20);
    let (one, other) = (kernel(b"one"), CachedKernel { json: b"[]\n".to_vec(), ..kernel(b"two") });
    let path = cache.entry(&key("a").to_string());
    cache.put(key("a"), &inputs("a"), &one);
    let good = EntryHead::new(&key("a").to_string(), inputs("a"), &one);
    let exchanged = [
        EntryHead { sha256: other.digest.to_string(), ..good.clone() },
        EntryHead { json_sha256: ContentDigest::of(&other.json).to_string(), ..good.clone() },
        EntryHead { kernel: "other".to_owned(), ..good.clone() },
    ];
    for (head, body) in exchanged.iter().zip([&b"{}\ntwo"[..], b"[]\none", b"{}\none"]) {
        let mut bytes = serde_json::to_vec(head).unwrap();
        bytes.push(b'\n');
        bytes.extend(body);
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(cache.get(key("a")), None, "{head:?}");
    }
}

#[test]
fn what_others_can_write_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let own = cache(directory.path(), 1 << 20);
    let shared = Cache { sharing: Sharing::Shared, ..own.clone() };
    own.put(key("a"), &inputs("a"), &kernel(b"bytes"));
    let entry = own.entries().remove(0);
    let folder = entry.parent().unwrap().to_path_buf();
    for (path, usual) in [(entry, 0o640), (folder, 0o750)] {
        for mode in [0o660, 0o606, 0o777] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(own.get(key("a")), None, "{} {mode:o}", path.display());
            assert_eq!(shared.get(key("a")), Some(kernel(b"bytes")));
        }
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(usual)).unwrap();
        assert!(own.get(key("a")).is_some());
    }
    assert!(own.check_owner().is_ok());
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o1777)).unwrap();
    let error = own.check_owner().unwrap_err().to_string();
    assert!(error.contains("mode 1777"), "{error}");
    assert!(shared.check_owner().is_ok());
}

#[test]
fn what_is_no_file_is_neither_used_nor_removed() {
    let directory = tempfile::tempdir().unwrap();
    let cache = cache(directory.path(), 1 << 20);
    let in_the_way = cache.entry(&key("a").to_string());
    std::fs::create_dir_all(in_the_way.join("kept")).unwrap();
    for name in [HITS, MISSES] {
        std::fs::create_dir(cache.directory.join(name)).unwrap();
    }
    assert_eq!(cache.get(key("a")), None);
    cache.put(key("a"), &inputs("a"), &kernel(b"bytes"));
    assert_eq!(cache.get(key("a")), None);
    assert!(in_the_way.join("kept").exists());
}

#[test]
fn the_least_recently_used_go_first() {
    let directory = tempfile::tempdir().unwrap();
    let cache = cache(directory.path(), 3700);
    let age = |name: &str, seconds| {
        let file = std::fs::OpenOptions::new().append(true).open(cache.entry(&key(name).to_string())).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    };
    for (name, seconds) in [("a", 300), ("b", 200), ("c", 100)] {
        cache.put(key(name), &inputs(name), &kernel(&[0; 800]));
        age(name, seconds);
    }
    assert!(cache.get(key("a")).is_some());
    cache.put(key("d"), &inputs("d"), &kernel(&[0; 800]));
    assert!(cache.get(key("b")).is_none());
    for name in ["a", "c", "d"] {
        assert!(cache.get(key(name)).is_some(), "{name}");
    }
}

#[test]
fn an_entry_made_elsewhere_is_checked() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (here, there) = (cache(here.path(), 1 << 20), cache(there.path(), 1 << 20));
    there.put(key("a"), &inputs("a"), &kernel(b"bytes"));
    let file = there.entries().remove(0);
    assert!(here.import(&file, |_, _| Err("it is another".to_owned())).is_err());
    assert_eq!(here.get(key("a")), None);
    assert_eq!(here.import(&file, |_, _| Ok(())).unwrap().kernel, "k");
    assert_eq!(here.get(key("a")), Some(kernel(b"bytes")));
    // Whole and sealed, but under a name that is no digest.
    let mut bytes = serde_json::to_vec(&EntryHead::new("../../x", Map::new(), &kernel(b"bytes"))).unwrap();
    bytes.extend(b"\n{}\nbytes");
    std::fs::write(&file, &bytes).unwrap();
    assert!(here.import(&file, |_, _| Ok(())).unwrap_err().to_string().contains("key"));
}

#[test]
fn what_it_holds_is_listed_and_verified() {
    let directory = tempfile::tempdir().unwrap();
    let cache = cache(directory.path(), 1 << 20);
    cache.put(key("a"), &inputs("a"), &kernel(b"bytes"));
    cache.put(key("b"), &inputs("b"), &kernel(b"more bytes"));
    assert!(cache.has(key("a")) && !cache.has(key("c")));
    let heads: Vec<_> = cache.list().into_iter().map(|entry| entry.head.unwrap()).collect();
    assert_eq!(heads.len(), 2);
    assert!(heads.iter().any(|head| head.inputs == inputs("a") && head.key == key("a").to_string()));
    let paths = cache.entries();
    assert!(paths.iter().all(|path| cache.verify(path, |_, _| Ok(())).is_ok()));
    assert!(cache.verify(&paths[0], |_, _| Err("odd".to_owned())).unwrap_err().to_string().contains("odd"));
    // Under the other's name it is whole, and wrong.
    std::fs::copy(&paths[0], &paths[1]).unwrap();
    assert!(cache.verify(&paths[1], |_, _| Ok(())).unwrap_err().to_string().contains("another key"));
    std::fs::write(&paths[0], b"{}").unwrap();
    assert_eq!(cache.list().iter().filter(|entry| entry.head.is_err()).count(), 1);
}

#[test]
fn what_is_no_folder_is_said() {
    let directory = tempfile::tempdir().unwrap();
    assert!(cache(directory.path(), 1).check_folder().is_ok());
    assert!(cache(&directory.path().join("missing"), 1).check_folder().is_ok());
    let file = directory.path().join("file");
    std::fs::write(&file, b"x").unwrap();
    let error = cache(&file, 1).check_folder().unwrap_err().to_string();
    assert!(error.contains("cannot list") && error.contains("Not a directory"), "{error}");
}

#[test]
fn a_cache_that_cannot_be_written_fails_nothing() {
    let cache = cache(Path::new("/proc/nowhere"), 1);
    cache.put(key("a"), &inputs("a"), &kernel(b"x"));
    assert_eq!(cache.get(key("a")), None);
    assert_eq!(cache.stats().entries, 0);
}
