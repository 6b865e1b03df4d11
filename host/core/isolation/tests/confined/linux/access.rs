//! Files, the environment, and the socket to the host.

use std::ffi::CString;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::answer::{Case, checked};
use super::libraries::receive_descriptor;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    cases.extend(reading());
    cases.extend(writing());
    cases.extend(socket());
    cases
}

fn read(path: impl AsRef<Path>) -> io::Result<()> {
    fs::File::open(path)?.read(&mut [0; 8]).map(drop)
}

fn reading() -> Vec<Case> {
    vec![
        Case::works("reads_a_file_in_a_granted_folder", |grounds| {
            read(grounds.granted().join("file"))
        }),
        Case::works("reads_a_granted_file_by_its_link", |grounds| read(grounds.alias())),
        Case::works("reads_a_granted_file_by_its_name", |grounds| read(grounds.single())),
        Case::works("lists_a_granted_folder", |grounds| {
            fs::read_dir(grounds.granted()).map(drop)
        }),
        Case::works("reads_a_library_of_the_system", |_| {
            let folders = [
                "/usr/lib/x86_64-linux-gnu/libc.so.6",
                "/usr/lib/aarch64-linux-gnu/libc.so.6",
                "/usr/lib64/libc.so.6",
            ];
            let found = folders.into_iter().find(|path| Path::new(path).exists());
            read(found.unwrap_or("/lib/libc.so"))
        }),
        Case::works("reads_its_own_memory_map", |_| read("/proc/self/maps")),
        Case::works("reads_random_bytes", |_| read("/dev/urandom")),
        Case::works("sees_that_a_file_exists", |grounds| {
            fs::metadata(grounds.secret()).map(drop)
        }),
        Case::refused("reads_a_file_that_is_not_granted", libc::EACCES, |grounds| {
            read(grounds.secret())
        }),
        Case::refused("follows_a_link_out_of_a_granted_folder", libc::EACCES, |grounds| {
            read(grounds.granted().join("link"))
        }),
        Case::refused("leaves_a_granted_folder_by_its_parent", libc::EACCES, |grounds| {
            read(grounds.granted().join("../secret"))
        }),
        Case::refused("reads_the_users_of_the_system", libc::EACCES, |_| read("/etc/passwd")),
        Case::refused("lists_the_root_folder", libc::EACCES, |_| fs::read_dir("/").map(drop)),
        Case::refused("reads_the_environment_of_its_parent", libc::EACCES, |_| {
            read(format!("/proc/{}/environ", std::os::unix::process::parent_id()))
        }),
        Case::refused("reads_its_own_environment", libc::EACCES, |_| {
            read("/proc/self/environ")
        }),
        Case::refused("reads_connections_of_the_machine", libc::EACCES, |_| {
            read("/proc/self/net/unix")
        }),
    ]
}

fn writing() -> Vec<Case> {
    vec![
        Case::refused("creates_a_file", libc::EPERM, |grounds| {
            fs::write(grounds.granted().join("new"), "")
        }),
        Case::refused("creates_a_file_in_tmp", libc::EPERM, |_| {
            fs::File::create_new(format!("/tmp/divvy-sandbox-{}", std::process::id()))?;
            fs::remove_file(format!("/tmp/divvy-sandbox-{}", std::process::id()))
        }),
        Case::refused("creates_a_file_without_a_name", libc::EPERM, |grounds| {
            let folder = CString::new(grounds.granted().as_os_str().as_bytes())?;
            // SAFETY: the path ends with a zero byte and lives during the call.
            checked(unsafe { libc::open(folder.as_ptr(), libc::O_TMPFILE | libc::O_WRONLY, 0o600) }.into())
        }),
        Case::refused("opens_a_granted_file_for_writing", libc::EPERM, |grounds| {
            fs::File::options()
                .write(true)
                .open(grounds.granted().join("file"))
                .map(drop)
        }),
        Case::refused("empties_a_granted_file", libc::EPERM, |grounds| {
            let path = CString::new(grounds.granted().join("file").as_os_str().as_bytes())?;
            // SAFETY: the path ends with a zero byte and lives during the call.
            checked(unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_TRUNC) }.into())
        }),
        Case::refused("removes_a_granted_file", libc::EPERM, |grounds| {
            fs::remove_file(grounds.granted().join("file"))
        }),
        Case::refused("renames_a_granted_file", libc::EPERM, |grounds| {
            fs::rename(grounds.granted().join("file"), grounds.granted().join("other"))
        }),
        Case::refused("creates_a_folder", libc::EPERM, |grounds| {
            fs::create_dir(grounds.granted().join("folder"))
        }),
        Case::refused("changes_the_mode_of_a_granted_file", libc::EPERM, |grounds| {
            fs::set_permissions(
                grounds.granted().join("file"),
                std::os::unix::fs::PermissionsExt::from_mode(0o600),
            )
        }),
        Case::refused("writes_to_its_own_memory_file", libc::EPERM, |_| {
            fs::File::options().write(true).open("/proc/self/mem").map(drop)
        }),
        Case::works("writes_to_standard_error", |_| io::stderr().write_all(b"a line\n")),
    ]
}

fn socket() -> Vec<Case> {
    vec![
        Case::works("talks_over_the_inherited_socket", |grounds| {
            let mut socket = grounds.socket();
            socket.write_all(b"hello")?;
            // A byte comes with the descriptor.
            socket.read_exact(&mut [0])
        }),
        Case::works("receives_a_descriptor", |grounds| {
            let mut text = String::new();
            let mut file = receive_descriptor(&grounds.socket())?;
            io::Seek::rewind(&mut file)?;
            file.read_to_string(&mut text)?;
            assert_eq!(text, "sent", "the file is the one that was sent");
            Ok(())
        }),
        Case::refused(
            "opens_a_received_descriptor_again_for_writing",
            libc::EPERM,
            |grounds| {
                use std::os::fd::AsRawFd;
                let file = receive_descriptor(&grounds.socket())?;
                let path = format!("/proc/self/fd/{}", file.as_raw_fd());
                fs::File::options().write(true).open(path).map(drop)
            },
        ),
    ]
}
