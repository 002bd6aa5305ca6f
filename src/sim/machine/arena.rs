//! Device memory: one sparse file in memory, mapped at the same address in every process that works on it.
//!
//! Pages are out of bounds until a buffer covers them, so an access beside a buffer is a crash with an address, not a
//! silent change of somebody else's data.

use std::os::fd::RawFd;

use super::memory::GUARD_BYTE;
use crate::sim::interface::error::SimError;

/// Arenas are put here, far from where programs and libraries are mapped, so that another process finds the same place
/// free.
const FIRST_ADDRESS: u64 = 0x1000_0000_0000;
/// Distance between two candidates.
const SPACING: u64 = 0x40_0000_0000;
const CANDIDATES: u64 = 64;
const PAGE: u64 = 4096;

/// Makes an arena, at `wanted` or nowhere if that is given; returns its address and its file descriptor.
pub(crate) fn create(bytes: u64, wanted: Option<u64>) -> Result<(u64, RawFd), SimError> {
    let failed = || SimError::Memory { bytes, source: std::io::Error::last_os_error() };
    // SAFETY: plain system calls; the name is terminated.
    let file = unsafe { libc::memfd_create(c"superkernel-gm".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
    if file < 0 {
        return Err(failed());
    }
    // Kernel code has the file too: were it cut short, the next access of this process would be its end.
    let fixed_size = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    // SAFETY: a fresh descriptor. A size beyond what a file can have is negative here, and refused.
    if unsafe { libc::ftruncate(file, bytes as i64) != 0 || libc::fcntl(file, libc::F_ADD_SEALS, fixed_size) != 0 } {
        let error = failed();
        // SAFETY: as above; nobody else has it.
        unsafe { libc::close(file) };
        return Err(error);
    }
    let usual = (0..CANDIDATES).map(|candidate| FIRST_ADDRESS + candidate * SPACING);
    // Anything else is not where arenas are.
    for address in usual.filter(|address| wanted.is_none_or(|wanted| wanted == *address)) {
        if attach(file, address, bytes).is_ok() {
            return Ok((address, file));
        }
    }
    let error = failed();
    // SAFETY: as above.
    unsafe { libc::close(file) };
    Err(error)
}

/// Maps an arena of another process at its address, out of bounds throughout.
pub(crate) fn attach(file: RawFd, address: u64, bytes: u64) -> Result<(), SimError> {
    // SAFETY: MAP_FIXED_NOREPLACE never touches an existing mapping.
    let mapped = unsafe {
        libc::mmap(
            address as *mut libc::c_void,
            bytes as usize,
            libc::PROT_NONE,
            libc::MAP_SHARED | libc::MAP_FIXED_NOREPLACE | libc::MAP_NORESERVE,
            file,
            0,
        )
    };
    if mapped as u64 == address {
        return Ok(());
    }
    let source = std::io::Error::last_os_error();
    if mapped != libc::MAP_FAILED {
        // A system that does not know the flag took the address as a hint.
        // SAFETY: exactly the mapping just made.
        unsafe { libc::munmap(mapped, bytes as usize) };
    }
    Err(SimError::Memory { bytes, source })
}

/// Opens or closes the pages of a buffer; `address` is a page boundary inside an arena.
pub(crate) fn protect(address: u64, bytes: u64, access: Access) -> Result<(), SimError> {
    let protection = match access {
        Access::Open => libc::PROT_READ | libc::PROT_WRITE,
        Access::Closed => libc::PROT_NONE,
    };
    // SAFETY: only changes pages of an arena, which this module mapped.
    let status = unsafe { libc::mprotect(address as *mut libc::c_void, bytes as usize, protection) };
    if status == 0 { Ok(()) } else { Err(SimError::Memory { bytes, source: std::io::Error::last_os_error() }) }
}

/// Empties and closes the open pages of a buffer that is gone, and gives their memory back to the system.
pub(crate) fn give_back(address: u64, bytes: u64) -> Result<(), SimError> {
    let pages = address as *mut libc::c_void;
    // SAFETY: open pages of an arena, which this module mapped; nobody looks at their content again.
    unsafe {
        if libc::madvise(pages, bytes as usize, libc::MADV_REMOVE) != 0 {
            // This system keeps the memory until the arena goes; the next buffer finds it empty all the same.
            libc::memset(pages, 0, bytes as usize);
        }
    }
    protect(address, bytes, Access::Closed)
}

/// Unmaps an arena.
pub(crate) fn detach(address: u64, bytes: u64) {
    // SAFETY: the caller is done with all buffers of the arena; it was mapped by this module.
    unsafe {
        libc::munmap(address as *mut libc::c_void, bytes as usize);
    }
}

/// Bytes between the end of a buffer and the end of its last page.
pub(crate) fn slack(bytes: u64) -> u64 {
    pages(bytes) * PAGE - bytes
}

fn pages(bytes: u64) -> u64 {
    bytes.div_ceil(PAGE).max(1)
}

/// Which pages of an arena belong to nobody. The first two never belong to a buffer: there a run tells where it is.
#[derive(Debug)]
pub(crate) struct Space {
    /// First byte and number of pages, in the order of addresses, never side by side.
    gaps: Vec<(u64, u64)>,
}

impl Space {
    /// All of an arena, whose first page can be touched from now on.
    pub(crate) fn new(address: u64, bytes: u64) -> Result<Self, SimError> {
        protect(address, PAGE, Access::Open)?;
        Ok(Self { gaps: vec![(address + 2 * PAGE, (bytes / PAGE).saturating_sub(2))] })
    }

    /// Whole pages for a buffer, with guard bytes up to the end of the last, and behind them a page that nobody may
    /// touch; at the address `wanted`, if given. `None`: there is no such room.
    pub(crate) fn allocate(&mut self, bytes: u64, wanted: Option<u64>) -> Result<Option<u64>, SimError> {
        let needed = pages(bytes) + 1;
        if let Some(wanted) = wanted {
            self.cut(wanted);
        }
        let fits = |(start, free): &(u64, u64)| *free >= needed && wanted.is_none_or(|wanted| wanted == *start);
        let Some(at) = self.gaps.iter().position(fits) else { return Ok(None) };
        let (address, free) = self.gaps[at];
        protect(address, (needed - 1) * PAGE, Access::Open)?;
        let rest = (address + needed * PAGE, free - needed);
        self.gaps.splice(at..=at, Some(rest).filter(|(_, free)| *free > 0));
        guard(address, bytes);
        Ok(Some(address))
    }

    /// Lets a gap begin at an address, if there is one around it. Both parts join again when something is freed.
    fn cut(&mut self, address: u64) {
        let inside = |(start, free): &(u64, u64)| {
            *start < address && address < start + free * PAGE && address.is_multiple_of(PAGE)
        };
        let Some(at) = self.gaps.iter().position(inside) else { return };
        let (start, free) = self.gaps[at];
        let before = (address - start) / PAGE;
        self.gaps.splice(at..=at, [(start, before), (address, free - before)]);
    }

    /// Takes the pages of a buffer back.
    pub(crate) fn release(&mut self, address: u64, bytes: u64) -> Result<(), SimError> {
        let count = pages(bytes) + 1;
        give_back(address, (count - 1) * PAGE)?;
        let at = self.gaps.partition_point(|(start, _)| *start < address);
        self.gaps.insert(at, (address, count));
        // With the gap behind it, then with the one before it.
        for first in [Some(at), at.checked_sub(1)].into_iter().flatten() {
            if let Some(&[(start, count), (following, more)]) = self.gaps.get(first..first + 2)
                && start + count * PAGE == following
            {
                self.gaps.splice(first..first + 2, [(start, count + more)]);
            }
        }
        Ok(())
    }
}

/// Fills the bytes past the end of a buffer, up to the end of its last page.
pub(crate) fn guard(address: u64, bytes: u64) {
    // SAFETY: the rest of an open page of an arena, which no buffer has.
    unsafe { std::ptr::write_bytes((address + bytes) as *mut u8, GUARD_BYTE, slack(bytes) as usize) };
}

/// Whether code may touch a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Reading and writing.
    Open,
    /// Any access crashes.
    Closed,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_room_is_used_again_and_joins_its_neighbours() {
        let bytes = 12 * PAGE;
        let (address, file) = create(bytes, None).unwrap();
        let mut space = Space::new(address, bytes).unwrap();
        let take = |space: &mut Space, size| space.allocate(size, None).unwrap();
        // Ten pages: three buffers of two with a page behind each, and one page left.
        let taken: Vec<u64> = (0..3).map(|_| take(&mut space, 2 * PAGE - 5).unwrap()).collect();
        assert_eq!(taken, [2, 5, 8].map(|page| address + page * PAGE));
        assert_eq!(take(&mut space, 1), None);
        for number in [0, 2, 1] {
            space.release(taken[number], 2 * PAGE - 5).unwrap();
        }
        assert_eq!(space.gaps, [(address + 2 * PAGE, 10)]);
        let at = space.allocate(3, Some(address + 6 * PAGE)).unwrap().unwrap();
        assert_eq!((at, space.gaps.len()), (address + 6 * PAGE, 2));
        // SAFETY: the open page of the buffer.
        let page = unsafe { std::slice::from_raw_parts(at as *const u8, PAGE as usize) };
        assert!(page[..3] == [0; 3] && page[3..].iter().all(|byte| *byte == GUARD_BYTE));
        detach(address, bytes);
        // SAFETY: a descriptor of ours; nobody uses it any more.
        unsafe { libc::close(file) };
    }

    #[test]
    fn nobody_changes_the_size_of_an_arena() {
        let (address, file) = create(4 * PAGE, None).unwrap();
        for size in [0, 8 * PAGE] {
            // SAFETY: a descriptor of ours.
            assert_eq!(unsafe { libc::ftruncate(file, size as i64) }, -1, "{size}");
        }
        detach(address, 4 * PAGE);
        // SAFETY: as above; nobody uses it any more.
        unsafe { libc::close(file) };
    }

    #[test]
    fn what_was_given_back_is_empty_when_opened_again() {
        let (address, file) = create(4 * PAGE, None).unwrap();
        protect(address, PAGE, Access::Open).unwrap();
        // SAFETY: an open page of the arena.
        unsafe { (address as *mut u8).write(7) };
        give_back(address, PAGE).unwrap();
        protect(address, PAGE, Access::Open).unwrap();
        // SAFETY: as above.
        assert_eq!(unsafe { (address as *const u8).read() }, 0);
        detach(address, 4 * PAGE);
        // SAFETY: a descriptor of ours; nobody uses it any more.
        unsafe { libc::close(file) };
    }

    #[test]
    fn a_size_that_no_file_has_is_an_error() {
        for size in [0, u64::MAX, 1 << 63, 1 << 60] {
            assert!(create(size, None).is_err(), "{size}");
        }
    }
}
