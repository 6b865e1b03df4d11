//! What a fuzzer found interesting, and thousands of variations of it that are the same in every run.

use std::path::Path;

use divvy_framework_arithmetic::random::Generator;
use divvy_fuzzing::TARGETS;

/// Variations of each file.
const VARIATIONS: u64 = 300;

/// The files of a target with their names, in the order of their names.
fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(&folder)
        .expect("every target has a corpus")
        .map(|entry| entry.expect("the corpus can be read").path())
        .map(|path| {
            let bytes = std::fs::read(&path).expect("the corpus can be read");
            (path.display().to_string(), bytes)
        })
        .collect();
    files.sort();
    files
}

/// Changes bytes in one to four places: one flipped, overwritten, removed, repeated, or a part of another file in its place.
fn varied(random: &mut Generator, bytes: &[u8], other: &[u8]) -> Vec<u8> {
    let mut varied = bytes.to_vec();
    let below = |random: &mut Generator, limit: usize| random.below(limit.max(1) as u64) as usize;
    for _ in 0..=random.below(4) {
        let start = below(random, varied.len());
        let end = start + below(random, (varied.len() - start).min(32) + 1);
        let part = varied[start..end].to_vec();
        match random.below(5) {
            0 => part
                .first()
                .into_iter()
                .for_each(|byte| varied[start] = byte ^ 1 << random.below(8)),
            1 => varied[start..end].fill([0, 0x7f, 0xff, b'"', b'9'][below(random, 5)]),
            2 => drop(varied.drain(start..end)),
            3 => drop(varied.splice(start..start, part.repeat(1 + below(random, 40)))),
            _ => {
                let from = below(random, other.len());
                let to = from + below(random, (other.len() - from).min(64) + 1);
                drop(varied.splice(start..end, other[from..to].iter().copied()));
            }
        }
    }
    varied
}

#[test]
fn no_file_and_no_variation_of_one_ends_its_reader() {
    for (name, target) in TARGETS {
        let files = corpus(name);
        assert!(!files.is_empty(), "{name}");
        assert!(!target(&[]), "{name}");
        let accepted = files.iter().filter(|(_, bytes)| target(bytes)).count();
        assert!(accepted > 0, "no file of `{name}` is accepted");
        for (number, (path, bytes)) in files.iter().enumerate() {
            // With `--nocapture`, the last line names the file that failed.
            println!("{path}");
            let mut random = Generator::new(number as u64, name);
            let (_, other) = &files[(number + 1) % files.len()];
            for _ in 0..VARIATIONS {
                let _accepted = target(&varied(&mut random, bytes, other));
            }
        }
    }
}
