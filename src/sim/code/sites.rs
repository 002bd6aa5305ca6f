//! Where in the source something happened, in the words of the user's own files.
//!
//! Headers pass file and line of whoever called them, which is the user's line if the header is ours. Of the vendor's
//! headers it is a line of theirs: there the calls that led to it are kept, and looked up in the library's debug
//! information when somebody asks. So are loads and stores, of which only the code is known.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::{CStr, c_char};
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::Ordering;

use super::library::Library;
use super::signals::FIBER;
use crate::fs;
use crate::locate::{LineTable, SourceLine};
use crate::sim::machine::access::Site;

/// Calls that are followed: the interface of the vendor is many functions deep.
const DEPTH: usize = 24;

/// Folders of headers, ours and the system's: nobody's operator is written there.
const OWN_FOLDERS: [&str; 4] = ["sk_core", "sk_cpu", "sk_host", "sk_program"];

/// Return addresses, innermost first, and the line that a header passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Calls {
    code: [u64; DEPTH],
    file: *const c_char,
    line: u32,
}

/// All sites of a run. Cheap to clone: all clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Sites(Rc<Table>);

#[derive(Default)]
struct Table {
    /// The library, and the distance between addresses in its file and in this process.
    library: Option<(PathBuf, u64)>,
    /// Code that fills local memories with anything.
    scramblers: Vec<Range<u64>>,
    /// Calls on tensors say so before they load or store: what does not is a plain pointer.
    announces_tensors: bool,
    /// Read when it is first needed; inside: `None` if there is none.
    lines: RefCell<Option<Option<LineTable>>>,
    calls: RefCell<Vec<Calls>>,
    known: RefCell<HashMap<Calls, u32>>,
    resolved: RefCell<HashMap<Site, Option<(String, u32)>>>,
    /// By the literal that a header passes: is it a file of the vendor's headers?
    foreign: RefCell<HashMap<*const c_char, bool>>,
    /// The last one that was none: most instructions of an operator come from one file.
    own: Cell<Option<*const c_char>>,
}

impl fmt::Debug for Sites {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Sites").finish_non_exhaustive()
    }
}

impl Sites {
    /// Those of a loaded library.
    pub(crate) fn of(library: &Library) -> Self {
        let (scramblers, announces_tensors) = (library.scramblers(), library.announces_tensors());
        Self(Rc::new(Table { library: Some(library.file()), scramblers, announces_tensors, ..Table::default() }))
    }

    /// Is a load or store that nobody announced certainly one through a plain pointer?
    pub(crate) fn announces_tensors(&self) -> bool {
        self.0.announces_tensors
    }

    /// Does this code only fill memory with anything?
    pub(crate) fn only_scrambles(&self, code: u64) -> bool {
        self.0.scramblers.iter().any(|range| range.contains(&code))
    }

    /// A call of a header, which passes file and line; `frame` is that of the function called.
    pub(crate) fn call(&self, file: *const c_char, line: u32, frame: *const usize) -> Site {
        if !self.is_foreign(file) {
            return Site::line(file, line);
        }
        let mut code = [0; DEPTH];
        follow(frame, &mut code);
        self.keep(Calls { code, file, line })
    }

    /// A load or store at `code`, in a function whose frame is `frame`.
    pub(crate) fn access(&self, code: u64, frame: *const usize) -> Site {
        let mut calls = Calls { code: [0; DEPTH], file: std::ptr::null(), line: 0 };
        calls.code[0] = code;
        follow(frame, &mut calls.code[1..]);
        self.keep(calls)
    }

    /// The calls that led to the function whose frame is `frame`.
    pub(crate) fn calls(&self, frame: *const usize) -> Site {
        let mut code = [0; DEPTH];
        follow(frame, &mut code);
        self.keep(Calls { code, file: std::ptr::null(), line: 0 })
    }

    /// Calls by their return addresses, innermost first.
    pub(crate) fn chain(&self, addresses: &[u64]) -> Site {
        let mut calls = Calls { code: [0; DEPTH], file: std::ptr::null(), line: 0 };
        let count = addresses.len().min(DEPTH);
        calls.code[..count].copy_from_slice(&addresses[..count]);
        self.keep(calls)
    }

    fn keep(&self, calls: Calls) -> Site {
        let table = &*self.0;
        let id = *table.known.borrow_mut().entry(calls).or_insert_with(|| {
            let mut all = table.calls.borrow_mut();
            all.push(calls);
            (all.len() - 1) as u32
        });
        Site::Calls(id)
    }

    /// File and line, as far as they are known. Only while the library is loaded.
    pub(crate) fn resolve(&self, site: Site) -> Option<(String, u32)> {
        match site {
            Site::Unknown => None,
            Site::Line(file, line) => Some((literal(file), line)),
            Site::Code(_) | Site::Calls(_) => {
                if let Some(known) = self.0.resolved.borrow().get(&site) {
                    return known.clone();
                }
                let found = self.look_up(site);
                self.0.resolved.borrow_mut().insert(site, found.clone());
                found
            }
        }
    }

    fn look_up(&self, site: Site) -> Option<(String, u32)> {
        let calls = match site {
            Site::Calls(id) => *self.0.calls.borrow().get(id as usize)?,
            Site::Code(code) => {
                let mut calls = Calls { code: [0; DEPTH], file: std::ptr::null(), line: 0 };
                calls.code[0] = code;
                calls
            }
            Site::Unknown | Site::Line(..) => return None,
        };
        let lines = self.lines_of(&calls.code);
        let own = lines.iter().find(|line| !is_header(Path::new(&line.file)));
        let passed = || (!calls.file.is_null()).then(|| (literal(calls.file), calls.line));
        let told = |line: &SourceLine| (line.file.clone(), line.line);
        own.map(told).or_else(passed).or_else(|| lines.first().map(told))
    }

    /// The lines of calls, innermost first, functions that were inlined included.
    fn lines_of(&self, code: &[u64]) -> Vec<SourceLine> {
        let Some((path, distance)) = &self.0.library else { return Vec::new() };
        let mut lines = self.0.lines.borrow_mut();
        let table = lines.get_or_insert_with(|| LineTable::load(&fs::read(path).ok()?));
        let Some(table) = table else { return Vec::new() };
        // A call returns to the instruction behind it.
        let at = |address: &u64| table.frames(address.wrapping_sub(*distance).wrapping_sub(1));
        code.iter().take_while(|address| **address != 0).flat_map(at).collect()
    }

    fn is_foreign(&self, file: *const c_char) -> bool {
        if file.is_null() || self.0.own.get() == Some(file) {
            return false;
        }
        let foreign = *self.0.foreign.borrow_mut().entry(file).or_insert_with(|| is_header(Path::new(&literal(file))));
        if !foreign {
            self.0.own.set(Some(file));
        }
        foreign
    }
}

/// A string that a header passed.
fn literal(file: *const c_char) -> String {
    // SAFETY: sites are made of string literals of the kernel's library, which is loaded during a run.
    unsafe { CStr::from_ptr(file) }.to_string_lossy().into_owned()
}

/// Is it a file of the vendor's headers, of ours or of the system, and not of an operator?
fn is_header(file: &Path) -> bool {
    let is_ours = |folder: &Path| {
        folder.file_name().is_some_and(|name| OWN_FOLDERS.iter().any(|own| name == *own))
            && folder.parent().is_some_and(|above| fs::metadata(&above.join("kernel_operator.h")).is_ok())
    };
    let is_part = |folder: &Path| {
        folder.file_name().is_some_and(|name| name == "include" || name == "impl")
            && folder.parent().is_some_and(|root| {
                fs::metadata(&root.join("include/kernel_operator.h")).is_ok()
                    && fs::metadata(&root.join("impl")).is_ok()
            })
    };
    file.starts_with("/usr") || file.ancestors().skip(1).any(|folder| is_ours(folder) || is_part(folder))
}

/// Follows frame pointers from `frame` on: return addresses, innermost first. Code without frame pointers leaves anything
/// there; then the list is short or means nothing, and nothing else happens.
fn follow(frame: *const usize, code: &mut [u64]) {
    let fiber = FIBER.load(Ordering::Relaxed);
    if fiber.is_null() {
        return;
    }
    // SAFETY: the handler of the fiber that runs, which lives during the run.
    let inside = |at: usize| unsafe { (*fiber).stack_ptr_in_bounds(at) };
    let mut at = frame as usize;
    for code in code {
        if !at.is_multiple_of(align_of::<usize>()) || !inside(at) || !inside(at + 2 * size_of::<usize>() - 1) {
            return;
        }
        // SAFETY: two aligned words of the stack of the fiber that runs, just checked; nobody writes there now.
        let [next, back] = unsafe { *(at as *const [usize; 2]) };
        *code = back as u64;
        if next <= at {
            return;
        }
        at = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_told_from_headers() {
        let root = tempfile::tempdir().unwrap();
        let tree = root.path();
        for file in
            ["include/kernel_operator.h", "impl/basic_api/a.h", "examples/include/op.h", "own/kernel_operator.h"]
        {
            fs::create_directories(tree.join(file).parent().unwrap()).unwrap();
            fs::write(&tree.join(file), b"").unwrap();
        }
        for (file, expected) in [
            ("impl/basic_api/a.h", true),
            ("include/kernel_operator.h", true),
            ("own/sk_host/pipe.h", true),
            ("examples/include/op.h", false),
            ("examples/add.cpp", false),
            ("sk_core/op.h", false),
        ] {
            assert_eq!(is_header(&tree.join(file)), expected, "{file}");
        }
        assert!(is_header(Path::new("/usr/include/c++/12/vector")));
        assert!(!is_header(Path::new("kernel.cpp")));
    }
}
