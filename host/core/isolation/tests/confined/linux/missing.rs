//! Machines and containers that lack a facility: a filter that is installed before answers in its place.

use divvy_isolation::sandbox::{self, Confinement, Facility, Limits, SandboxError, forbid};
use libtest_mimic::{Failed, Trial};

use super::grounds::Grounds;

/// A system call that is not available.
struct Lack {
    name: &'static str,
    call: libc::c_long,
    /// Only with this first argument.
    first: Option<i32>,
    errno: i32,
    facility: Facility,
    required: bool,
}

const fn lack(name: &'static str, call: libc::c_long, errno: i32, facility: Facility) -> Lack {
    Lack {
        name,
        call,
        first: None,
        errno,
        facility,
        required: false,
    }
}

const fn required(name: &'static str, call: libc::c_long, first: Option<i32>, errno: i32, facility: Facility) -> Lack {
    Lack {
        first,
        required: true,
        ..lack(name, call, errno, facility)
    }
}

const LACKS: &[Lack] = &[
    lack(
        "lacks_landlock",
        libc::SYS_landlock_create_ruleset,
        libc::ENOSYS,
        Facility::Landlock,
    ),
    lack(
        "lacks_landlock_at_boot",
        libc::SYS_landlock_create_ruleset,
        libc::EOPNOTSUPP,
        Facility::Landlock,
    ),
    lack(
        "forbids_landlock",
        libc::SYS_landlock_create_ruleset,
        libc::EPERM,
        Facility::Landlock,
    ),
    lack(
        "forbids_rules_of_landlock",
        libc::SYS_landlock_add_rule,
        libc::EPERM,
        Facility::Landlock,
    ),
    lack(
        "forbids_landlock_at_last",
        libc::SYS_landlock_restrict_self,
        libc::EPERM,
        Facility::Landlock,
    ),
    lack(
        "forbids_dropping_capabilities",
        libc::SYS_capset,
        libc::EPERM,
        Facility::Capabilities,
    ),
    required(
        "lacks_seccomp",
        libc::SYS_seccomp,
        None,
        libc::ENOSYS,
        Facility::Seccomp,
    ),
    required(
        "forbids_seccomp",
        libc::SYS_seccomp,
        None,
        libc::EPERM,
        Facility::Seccomp,
    ),
    required(
        "lacks_no_new_privileges",
        libc::SYS_prctl,
        Some(libc::PR_SET_NO_NEW_PRIVS),
        libc::ENOSYS,
        Facility::NoNewPrivileges,
    ),
    required(
        "forbids_no_new_privileges",
        libc::SYS_prctl,
        Some(libc::PR_SET_NO_NEW_PRIVS),
        libc::EPERM,
        Facility::NoNewPrivileges,
    ),
];

pub(super) fn trials() -> Vec<Trial> {
    let lacks = LACKS.iter().map(|lack| Trial::test(lack.name, || ends_well(lack.name)));
    let others = OTHERS.iter().map(|(name, _)| Trial::test(*name, || ends_well(name)));
    lacks.chain(others).collect()
}

type Check = fn(&Grounds);

/// Other reasons for an error or a warning.
const OTHERS: &[(&str, Check)] = &[
    ("a_granted_path_must_exist", |grounds| {
        let limits = Limits {
            read: vec![grounds.granted(), grounds.granted().join("absent")],
            ..Limits::default()
        };
        let error = sandbox::confine(&limits)
            .expect_err("the path does not exist")
            .to_string();
        assert!(error.contains("absent") && error.contains("No such file"), "{error}");
        // Nothing is confined yet.
        std::fs::read("/etc/passwd").expect("everything can be read");
    }),
    ("several_threads_are_refused", |_| {
        std::thread::scope(|scope| {
            let (_send, receive) = std::sync::mpsc::channel::<()>();
            scope.spawn(move || receive.recv());
            let error = sandbox::confine(&Limits::default()).expect_err("there is another thread");
            assert!(matches!(error, SandboxError::SeveralThreads { threads: 2 }), "{error}");
            drop(_send);
        });
    }),
    ("limits_that_cannot_be_set_are_missing", |grounds| {
        forbid(libc::SYS_prlimit64, None, libc::EPERM).expect("a filter can be installed");
        let confinement = sandbox::confine(&grounds.limits()).expect("limits are not required");
        for facility in [
            Facility::MemoryLimit,
            Facility::AddressLimit,
            Facility::StackLimit,
            Facility::DescriptorLimit,
            Facility::CoreLimit,
        ] {
            assert!(!confinement.has(facility), "{facility} cannot be set");
        }
        assert!(confinement.has(Facility::Landlock) && confinement.has(Facility::Seccomp));
    }),
    ("an_unlimited_stack_is_limited", |grounds| {
        let mut limit = stack_limit();
        limit.rlim_cur = limit.rlim_max;
        // SAFETY: the limit lives during the call.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_STACK, &raw const limit) }, 0);
        sandbox::confine(&grounds.limits()).expect("it can be confined");
        let now = stack_limit();
        assert_eq!(
            (now.rlim_cur, now.rlim_max),
            (limit.rlim_max.min(8 << 20), limit.rlim_max.min(8 << 20))
        );
    }),
    ("inherited_descriptors_are_closed", |_| {
        let open = || -> Vec<i32> { (0..200).filter(|&number| is_open(number)).collect() };
        for number in [7, 20, 21, 150] {
            // SAFETY: the numbers are not in use.
            assert_eq!(unsafe { libc::dup2(2, number) }, number);
        }
        // SAFETY: no one owns them.
        unsafe { sandbox::close_inherited(&[0, 1, 2, 20]) }.expect("they can be closed");
        assert_eq!(open(), [0, 1, 2, 20]);
        // SAFETY: the number is not in use.
        assert_eq!(unsafe { libc::dup2(2, 150) }, 150);
        forbid(libc::SYS_close_range, None, libc::ENOSYS).expect("a filter can be installed");
        // SAFETY: no one owns them.
        unsafe { sandbox::close_inherited(&[0, 1, 2]) }.expect("they can be closed");
        assert_eq!(open(), [0, 1, 2]);
    }),
];

fn stack_limit() -> libc::rlimit {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the limit lives during the call.
    assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) }, 0);
    limit
}

fn is_open(descriptor: i32) -> bool {
    // SAFETY: the call reads no memory.
    unsafe { libc::fcntl(descriptor, libc::F_GETFD) >= 0 }
}

fn ends_well(name: &str) -> Result<(), Failed> {
    let output = Grounds::new().command(name).output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
    }
}

/// Runs a case of this module, if it is one.
pub(super) fn inside(name: &str) -> bool {
    let lack = LACKS.iter().find(|lack| lack.name == name);
    let other = OTHERS.iter().find(|(other, _)| *other == name);
    if let Some(lack) = lack {
        lacks(lack);
    }
    if let Some((_, check)) = other {
        check(&Grounds::inside());
    }
    lack.is_some() || other.is_some()
}

fn lacks(lack: &Lack) {
    let first = lack.first.map(|first| u64::try_from(first).expect("it is positive"));
    forbid(lack.call, first, lack.errno).expect("a filter can be installed");
    let result = sandbox::confine(&Grounds::inside().limits());
    let missing = match (&result, lack.required) {
        (Err(SandboxError::Required(missing)), true) => missing,
        (Ok(confinement), false) => only_missing(confinement),
        _ => panic!("{result:?}"),
    };
    assert_eq!((missing.facility, missing.errno), (lack.facility, lack.errno));
    let text = missing.to_string();
    assert!(
        text.contains(&lack.facility.to_string()) && text.contains(&format!("os error {}", lack.errno)),
        "{text}"
    );
    let hint = match &result {
        Err(error) => error.hint(),
        Ok(_) => missing.hint(),
    };
    assert!(hint.is_some(), "{text}");
    if let Ok(confinement) = &result {
        what_is_left(confinement);
    }
}

fn only_missing(confinement: &Confinement) -> &sandbox::Missing {
    let [missing] = confinement.missing() else {
        panic!("{:?}", confinement.missing());
    };
    missing
}

/// The filter is in force, and files are what landlock says.
fn what_is_left(confinement: &Confinement) {
    let refused = |result: std::io::Result<()>| result.expect_err("it is refused").raw_os_error();
    assert_eq!(
        refused(std::fs::write("/tmp/divvy-sandbox-never", "")),
        Some(libc::EPERM)
    );
    assert_eq!(
        refused(std::net::UdpSocket::bind("127.0.0.1:0").map(drop)),
        Some(libc::EPERM)
    );
    let has_landlock = confinement.has(Facility::Landlock);
    assert_eq!(std::fs::read("/etc/passwd").is_err(), has_landlock);
    assert_eq!(confinement.landlock_abi().is_some(), has_landlock);
}
