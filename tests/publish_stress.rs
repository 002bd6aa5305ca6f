//! Publishing under `kill -9`: whoever finds a description finds the object it describes.
//!
//! `SUPERKERNEL_STRESS_ROUNDS` sets the number of kills.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use superkernel::build::files::KernelFiles;
use superkernel::cancel::Cancel;
use superkernel::environment::Intermediates;
use superkernel::store::digest::ContentDigest;
use superkernel::store::publish::publish;
use superkernel::store::work_dir::WorkDir;

const DIRECTORY: &str = "SUPERKERNEL_STRESS_DIRECTORY";
const KERNELS: [&str; 2] = ["shared", "other"];

/// Not a test of its own: the program that is killed. It publishes until then.
#[test]
fn publisher() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let directory = Path::new(&directory);
    println!("ready");
    for number in 0u64.. {
        let kernel = KERNELS[(number % 2) as usize];
        let size = 1000 + (number as usize * 7919) % 60_000;
        let object: Vec<u8> = (0..size).map(|at| (at as u64 ^ number ^ u64::from(std::process::id())) as u8).collect();
        let json = ContentDigest::of(&object).to_string();
        let work = WorkDir::create(directory, kernel, &Cancel::new()).unwrap();
        let files = KernelFiles::new(directory, kernel);
        publish(
            &files.release(&object, json.as_bytes(), json.as_bytes(), None, Intermediates::Remove),
            &work,
            &Cancel::new(),
        )
        .unwrap();
    }
}

fn start(directory: &Path) -> Child {
    // Tests are called without the name of their crate.
    let publisher = format!("{}::publisher", module_path!().split_once("::").expect("inside of a crate").1);
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &publisher, "--nocapture"])
        .env(DIRECTORY, directory)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Until it publishes.
    let mut seen = Vec::new();
    let stdout = child.stdout.as_mut().unwrap();
    while !String::from_utf8_lossy(&seen).contains("ready") {
        let mut byte = [0];
        assert_eq!(stdout.read(&mut byte).unwrap(), 1, "the publisher did not start");
        seen.push(byte[0]);
    }
    child
}

/// Reads a pair as a reader would who looks twice: the same description before and after means that the object in
/// between belonged to it.
fn check(directory: &Path, kernel: &str) -> bool {
    let files = KernelFiles::new(directory, kernel);
    let Ok(before) = std::fs::read(files.json()) else { return false };
    let object = std::fs::read(files.object());
    if std::fs::read(files.json()).ok().as_ref() != Some(&before) {
        return false;
    }
    let object = object.expect("a description without its object");
    assert_eq!(ContentDigest::of(&object).to_string().as_bytes(), before, "a mixed pair of `{kernel}`");
    true
}

#[test]
fn a_killed_publisher_leaves_old_nothing_or_new() {
    let rounds: u64 = std::env::var("SUPERKERNEL_STRESS_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(250);
    let scene = tempfile::tempdir().unwrap();
    let directory = scene.path().join("kernel_meta");
    let mut publishers: Vec<Child> = (0..2).map(|_| start(&directory)).collect();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut pairs = 0;
    for round in 0..rounds {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let until = Instant::now() + Duration::from_micros((random >> 33) % 6000);
        while Instant::now() < until {
            pairs += KERNELS.iter().filter(|kernel| check(&directory, kernel)).count();
        }
        let victim = (round % 2) as usize;
        publishers[victim].kill().unwrap();
        publishers[victim].wait().unwrap();
        for kernel in KERNELS {
            check(&directory, kernel);
        }
        publishers[victim] = start(&directory);
    }
    for mut publisher in publishers {
        publisher.kill().unwrap();
        publisher.wait().unwrap();
    }
    assert!(pairs > 0, "no complete pair was ever seen");

    // No lock is left, and the next build removes what the dead ones left.
    for kernel in KERNELS {
        let work = WorkDir::create(&directory, kernel, &Cancel::new()).unwrap();
        let json = ContentDigest::of(b"last").to_string();
        let files = KernelFiles::new(&directory, kernel);
        publish(&files.release(b"last", json.as_bytes(), b"{}", None, Intermediates::Remove), &work, &Cancel::new())
            .unwrap();
        drop(work);
        assert!(check(&directory, kernel));
    }
    let mut names: Vec<String> =
        std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(
        names,
        ["other.json", "other.manifest.json", "other.o", "shared.json", "shared.manifest.json", "shared.o"]
    );
}
