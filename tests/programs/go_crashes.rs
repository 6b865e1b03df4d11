//! A library with a runtime that handles signals itself: the example in Go, changed so that it crashes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use crate::artifacts::repository;
use crate::ended::{Ended, run};
use crate::hostile::HOSTILE;
use crate::manifests::binding;

/// The statement of the example that is replaced, and what the plugin does by its configuration.
const RULE: (&str, &str) = (
    "return r.pattern.Match(name)",
    "switch r.pattern.String() {
	case \"nil\":
		var nowhere *int
		*nowhere = 1
	case \"goroutine\":
		go func() {
			var nowhere *int
			*nowhere = 1
		}()
		time.Sleep(time.Minute)
	}
	return true",
);

static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-plugin-that-crashes");
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let example = repository().join("examples/go-plugin");
    let copy = |name: &str, changes: &[(&str, &str)]| {
        let mut text = std::fs::read_to_string(example.join(name)).expect("the example is there");
        for (from, to) in changes {
            assert!(text.contains(from), "{name} has no `{from}`");
            text = text.replace(from, to);
        }
        std::fs::write(folder.join(name), text).expect("it can be written");
    };
    let headers = repository().join("framework/abi/include").display().to_string();
    copy("main.go", &[("${SRCDIR}/../../framework/abi/include", &headers)]);
    copy("rule.go", &[RULE, ("\t\"regexp\"\n", "\t\"regexp\"\n\t\"time\"\n")]);
    copy("exports.c", &[]);
    copy("host.h", &[]);
    copy("go.mod", &[]);
    let library = folder.join("libcrashing.so");
    let mut command = Command::new(repository().join("tests/control-plane/go"));
    command
        .args(["build", "-buildvcs=false", "-buildmode=c-shared", "-o"])
        .arg(&library)
        .arg(".")
        .current_dir(&folder)
        .env("CGO_ENABLED", "1");
    let output = command.output().expect("the script can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    library
});

fn filter(pattern: &str) -> Ended {
    let profile = format!(
        "[[profile]]\nname = 'go'\nextends = 'default'\nfilters = ['cluster-affinity', 'name-pattern']\n\
         [profile.plugin.name-pattern]\npath = '{}'\nallow-uncertified = true\nisolation = 'none'\nconfiguration = {{ pattern = '{pattern}' }}\n",
        LIBRARY.display()
    );
    run(&["schedule"], &profile, binding("web", 3).strategy("Average"))
}

#[test]
fn a_plugin_in_go_that_does_not_crash_is_not_named() {
    filter("any").check("any", Ok(0), &[]);
}

/// The runtime makes a panic of a nil pointer, which the example recovers: nothing has crashed, and the panic names the plugin.
#[test]
fn go_recovers_what_it_could_without_divvy() {
    let ended = filter("nil");
    assert_eq!(ended.how(), Ok(3), "{}", ended.log);
    assert!(!ended.log.contains("SIGSEGV at"), "{}", ended.log);
    let said = [ended.output.as_str(), &ended.log].concat();
    let panicked = "plugin `name-pattern` panicked: runtime error: invalid memory address or nil pointer dereference";
    assert!(said.contains(panicked), "{said}");
}

/// A goroutine of its own cannot be recovered from outside: the runtime prints its stack and aborts, as it always does in a library.
#[test]
fn go_prints_the_stack_of_a_goroutine_that_crashes() {
    let ended = filter("goroutine");
    assert_eq!(ended.how(), Err(6), "{}", ended.log);
    let expected = "error: SIGABRT outside of every call of a plugin; other threads are in Filter of binding `default/web` of plugin \
                    `name-pattern`";
    assert_eq!(ended.errors(), [expected], "{}", ended.log);
    for said in ["panic: runtime error: invalid memory address", "goroutine ", "rule.go"] {
        assert!(ended.log.contains(said), "{said}: {}", ended.log);
    }
}

/// Go's handler is in front of ours and forwards a fault that is not in Go code. Ours steps aside for Rust's.
#[test]
fn a_crash_outside_of_go_passes_through_its_handler() {
    let profile = format!(
        "[[profile]]\nname = 'both'\nextends = 'default'\nfilters = ['cluster-affinity', 'name-pattern']\nassign = ['hostile']\n\
         [profile.plugin.name-pattern]\npath = '{}'\nallow-uncertified = true\nisolation = 'none'\nconfiguration = {{ pattern = 'any' }}\n\
         [profile.plugin.hostile]\npath = '{}'\nallow-uncertified = true\nisolation = 'none'\n",
        LIBRARY.display(),
        HOSTILE.display()
    );
    let crashing = |fault: &str| {
        let binding = binding("web", 3).strategy("Hostile");
        let binding = binding.annotation("hostile.example/fault", fault);
        run(
            &["schedule"],
            &profile,
            binding.annotation("hostile.example/point", "assign"),
        )
    };
    let expected = "error: plugin `hostile` failed in Assign of binding `default/web`: SIGSEGV at address 0x8";
    crashing("segmentation fault").check("both", Err(11), &[expected]);
    let overflow = crashing("stack overflow");
    assert!(overflow.log.contains("has overflowed its stack"), "{}", overflow.log);
}
