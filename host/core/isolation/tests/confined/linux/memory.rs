//! Memory within and beyond the limit.

use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::ptr;

use libtest_mimic::Trial;

use super::answer::{Answer, Case};
use super::grounds::{Grounds, MEMORY_BYTES};

const BYTES: usize = MEMORY_BYTES as usize;

pub(super) fn cases() -> Vec<Case> {
    let private = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    vec![
        Case::works("uses_most_of_its_memory", move |_| {
            map(BYTES / 8 * 7, READ_WRITE, private).and_then(touch)
        }),
        Case::refused("maps_more_than_its_memory", libc::ENOMEM, move |_| {
            map(BYTES + 1, READ_WRITE, private).map(drop)
        }),
        Case::refused("maps_more_than_its_memory_in_pieces", libc::ENOMEM, move |_| {
            (0..=64).try_for_each(|_| map(BYTES / 64, READ_WRITE, private).map(drop))
        }),
        Case::works("reserves_64_gib", move |_| {
            map(64 << 30, libc::PROT_NONE, private | libc::MAP_NORESERVE).map(drop)
        }),
        Case::works("uses_a_part_of_what_it_reserved", move |_| {
            let (start, _) = map(64 << 30, libc::PROT_NONE, private | libc::MAP_NORESERVE)?;
            protect((start, BYTES / 2), READ_WRITE).and_then(touch)
        }),
        Case::refused(
            "uses_more_of_what_it_reserved_than_its_memory",
            libc::ENOMEM,
            move |_| {
                let (start, _) = map(64 << 30, libc::PROT_NONE, private | libc::MAP_NORESERVE)?;
                protect((start, BYTES + 1), READ_WRITE).map(drop)
            },
        ),
        Case::works("maps_over_what_it_reserved", move |_| {
            let (start, _) = map(64 << 30, libc::PROT_NONE, private | libc::MAP_NORESERVE)?;
            map_at(start, BYTES / 2, READ_WRITE, private | libc::MAP_FIXED).and_then(touch)
        }),
        Case::works("reserves_again_what_it_reserved", move |_| {
            let (start, length) = map(64 << 30, libc::PROT_NONE, private | libc::MAP_NORESERVE)?;
            map_at(
                start,
                length,
                libc::PROT_NONE,
                private | libc::MAP_NORESERVE | libc::MAP_FIXED,
            )
            .map(drop)
        }),
        Case::refused(
            "maps_over_what_it_reserved_more_than_its_memory",
            libc::EPERM,
            move |_| {
                let (start, _) = map(64 << 30, libc::PROT_NONE, private | libc::MAP_NORESERVE)?;
                map_at(start, BYTES + 1, READ_WRITE, private | libc::MAP_FIXED).map(drop)
            },
        ),
        Case::refused("maps_over_what_it_reserved_in_pieces", libc::ENOMEM, move |_| {
            let (start, _) = map(64 << 30, libc::PROT_NONE, private | libc::MAP_NORESERVE)?;
            let mut pieces = (0..=65).map(|number| start.wrapping_byte_add(number * (BYTES / 64)));
            pieces.try_for_each(|start| map_at(start, BYTES / 64, READ_WRITE, private | libc::MAP_FIXED).map(drop))
        }),
        Case::works("maps_a_file_that_was_sent", |grounds| {
            let file = super::libraries::receive_descriptor(&grounds.socket())?;
            // SAFETY: a new mapping replaces nothing.
            let mapped = unsafe { libc::mmap(ptr::null_mut(), 4, READ_WRITE, libc::MAP_SHARED, file.as_raw_fd(), 0) };
            assert_ne!(mapped, libc::MAP_FAILED, "{}", io::Error::last_os_error());
            // SAFETY: the file has four bytes, and nothing else writes to them.
            assert_eq!(unsafe { mapped.cast::<[u8; 4]>().read() }, *b"sent");
            Ok(())
        }),
        Case::refused("maps_shared_memory_without_a_file", libc::EPERM, |_| {
            map(4_096, READ_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS).map(drop)
        }),
        Case::refused("maps_memory_that_grows_like_a_stack", libc::EPERM, move |_| {
            map(4_096, READ_WRITE, private | libc::MAP_GROWSDOWN).map(drop)
        }),
        Case::refused("creates_a_file_in_memory", libc::EPERM, |_| {
            // SAFETY: the name ends with a zero byte.
            super::answer::checked(unsafe { libc::memfd_create(c"name".as_ptr(), 0) }.into())
        }),
        Case::works("a_vector_has_room", |_| {
            let mut vector: Vec<u8> = Vec::new();
            vector
                .try_reserve_exact(BYTES / 2)
                .map_err(|_| io::ErrorKind::OutOfMemory)?;
            Ok(())
        }),
        Case::works("a_vector_beyond_the_limit_is_an_error", |_| {
            let mut vector: Vec<u8> = Vec::new();
            vector.try_reserve_exact(BYTES * 2).expect_err("there is a limit");
            Ok(())
        })
        .alone(),
        Case::dies("a_vector_beyond_the_limit_that_must_be_there", libc::SIGABRT, |_| {
            std::hint::black_box(vec![0_u8; BYTES * 2]);
            Ok(())
        }),
        Case::refused("opens_more_than_its_descriptors", libc::EMFILE, |_| {
            let opened: Result<Vec<_>, _> = (0..100).map(|_| std::fs::File::open("/dev/urandom")).collect();
            opened.map(drop)
        }),
    ]
}

/// The kernel does not count what was written to and is then read-only, but the host can see it. It also sees who ends first.
pub(super) fn watched() -> Trial {
    Trial::test("memory_beyond_the_limit_is_seen_by_the_host", || {
        let grounds = Grounds::new();
        let (child, mut socket) = grounds.start(EVADES, true);
        // The process has used its memory, and waits.
        socket.read_exact(&mut [0])?;
        let used = divvy_isolation::sandbox::footprint(child.id())?.memory;
        let score = std::fs::read_to_string(format!("/proc/{}/oom_score_adj", child.id()))?;
        socket.write_all(b"x")?;
        let answer = Answer::read(&child.wait_with_output()?);
        assert!(matches!(answer, Answer::Worked), "{answer:?}");
        assert!(used > 2 * MEMORY_BYTES, "the host sees {used} bytes");
        assert_eq!(score.trim_end(), "1000");
        Ok(())
    })
}

const EVADES: &str = "evades_the_limit_of_the_kernel";

/// The other side of [`watched`].
pub(super) fn evading() -> Case {
    Case::works(EVADES, evade)
}

fn evade(grounds: &Grounds) -> io::Result<()> {
    let piece = BYTES / 4;
    for _ in 0..9 {
        let block = map(piece, READ_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS)?;
        touch(block)?;
        protect(block, libc::PROT_READ)?;
    }
    let mut socket = grounds.socket();
    socket.set_nonblocking(false).expect_err("flags are refused");
    // What the test has sent first is a descriptor.
    super::libraries::receive_descriptor(&socket)?;
    socket.write_all(b"x")?;
    socket.read_exact(&mut [0])
}

const READ_WRITE: libc::c_int = libc::PROT_READ | libc::PROT_WRITE;

type Block = (*mut libc::c_void, usize);

fn map(length: usize, protection: libc::c_int, flags: libc::c_int) -> io::Result<Block> {
    map_at(ptr::null_mut(), length, protection, flags)
}

/// Maps memory; at an address only over what was reserved.
fn map_at(start: *mut libc::c_void, length: usize, protection: libc::c_int, flags: libc::c_int) -> io::Result<Block> {
    // SAFETY: a new mapping replaces nothing but a reservation.
    let mapped = unsafe { libc::mmap(start, length, protection, flags, -1, 0) };
    match mapped {
        libc::MAP_FAILED => Err(io::Error::last_os_error()),
        mapped => Ok((mapped, length)),
    }
}

/// Changes the protection of a block.
fn protect((start, length): Block, protection: libc::c_int) -> io::Result<Block> {
    // SAFETY: nothing refers to the block.
    match unsafe { libc::mprotect(start, length, protection) } {
        0 => Ok((start, length)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Writes to each page.
fn touch((start, length): Block) -> io::Result<()> {
    for offset in (0..length).step_by(4_096) {
        let page = start.cast::<u8>().wrapping_add(offset);
        // SAFETY: the block is mapped, writable and used by nothing else.
        unsafe { page.write_volatile(1) };
    }
    Ok(())
}
