//! Runs cycles under callgrind and reads the counts.
//!
//! Callgrind counts only inside one function, on the thread that runs it, and writes a dump whenever the function ends. A worker is a
//! process of its own and runs outside callgrind. The environment is the same in every run, and so are the addresses of memory.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::CYCLES;
use crate::cases::{Kind, SIZES};
use crate::counts::Count;
use crate::cycles::COUNTED;

/// The function in which instructions are counted.
const FUNCTION: &str = "divvy_instructions::cycles::counted";

/// Settings of glibc by which it takes the functions that every x86-64 processor has, such as those that copy memory. Otherwise, it
/// chooses by the processor. Other C libraries and processors ignore them.
const TUNABLES: &str = "glibc.cpu.hwcaps=-AVX,-AVX2,-AVX_Fast_Unaligned_Load,-BMI1,-BMI2,-ERMS,-FMA,-FSRM,-LZCNT,-MOVBE,-SSE4_1,-SSE4_2,-SSSE3";

/// The version of valgrind, such as `valgrind-3.19.0`.
pub(crate) fn version() -> Result<String, String> {
    let output = Command::new("valgrind").arg("--version").output();
    let output = output.map_err(|error| format!("valgrind: {error}; install Debian's package `valgrind`"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Counts the cycles of a kind, one count per size.
pub(crate) fn count(kind: Kind, recording: &Path, folder: &Path) -> Result<Vec<Count>, String> {
    let program = std::env::current_exe().map_err(|error| format!("the path of this program: {error}"))?;
    let dumps = folder.join(kind.name());
    let mut command = Command::new("valgrind");
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("GLIBC_TUNABLES", TUNABLES)
        .args(["--quiet", "--tool=callgrind", "--combine-dumps=yes"])
        .arg(format!("--toggle-collect={FUNCTION}"))
        .arg(format!("--dump-after={FUNCTION}"))
        .arg(format!("--callgrind-out-file={}", dumps.display()))
        .arg(program)
        .args([CYCLES, kind.name()])
        .arg(recording);
    let output = command.output().map_err(|error| format!("valgrind: {error}"))?;
    if !output.status.success() {
        let mut message = format!("{command:?}: {}", output.status);
        for text in [output.stdout, output.stderr] {
            let _infallible = write!(message, "\n{}", String::from_utf8_lossy(&text).trim_end());
        }
        return Err(message);
    }
    let text = std::fs::read_to_string(&dumps).map_err(|error| format!("{}: {error}", dumps.display()))?;
    let counts = counts_of(&text)?;
    let cycles = SIZES.into_iter().zip(counts.chunks(COUNTED));
    Ok(cycles
        .map(|(clusters, cycles)| Count::of(kind, clusters, cycles))
        .collect())
}

/// The count of each cycle in callgrind's dumps, in the order of the cycles.
fn counts_of(dumps: &str) -> Result<Vec<u64>, String> {
    let mut counts = Vec::new();
    let mut is_of_cycle = false;
    for line in dumps.lines() {
        if let Some(trigger) = line.strip_prefix("desc: Trigger: ") {
            is_of_cycle = trigger.starts_with("--dump-after=");
        } else if let Some(count) = line.strip_prefix("totals: ").filter(|_| is_of_cycle) {
            let count = count
                .trim()
                .parse()
                .map_err(|_| format!("callgrind's total is `{count}`, expected a count"))?;
            counts.push(count);
        }
    }
    let expected = SIZES.len() * COUNTED;
    if counts.len() != expected || counts.contains(&0) {
        return Err(format!(
            "callgrind counted {} cycles, expected {expected}, each with instructions; is the symbol `{FUNCTION}` in the program?",
            counts.iter().filter(|count| **count > 0).count()
        ));
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_dumps_of_cycles_count_and_each_must_have_instructions() {
        let dump = |trigger: &str, count: &str| format!("desc: Trigger: {trigger}\nfn=(1) main\ntotals: {count}\n");
        let cycles = |count: &str| dump(&format!("--dump-after={FUNCTION}"), count).repeat(SIZES.len() * COUNTED);
        let end = dump("Program termination", "0");
        assert_eq!(counts_of(&(cycles("17") + &end)), Ok(vec![17; SIZES.len() * COUNTED]));
        assert!(
            counts_of(&(cycles("0") + &end))
                .unwrap_err()
                .contains("counted 0 cycles")
        );
        assert!(counts_of(&(cycles("x") + &end)).unwrap_err().contains("`x`"));
        assert!(counts_of(&end).unwrap_err().contains("counted 0 cycles, expected 24"));
    }
}
