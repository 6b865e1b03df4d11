//! The quorum of a binding: the replicas from which fewer than requested are divided.
//!
//! A percentage is one of the requested replicas, rounded up. A quorum of all of them, or of more, has no effect: only all replicas
//! are divided, so that a workload that is scaled below its quorum stays valid. The same holds for a resource without replicas.

use super::QUORUM_ANNOTATION;
use super::annotations::{Carriers, Written};
use super::declared::Declarations;
use super::error::InvalidBinding;
use crate::input::PlanInput;

/// The quorum in force, in replicas; `None` if there is none, or if it is not below the requested replicas.
///
/// # Errors
///
/// An [`InvalidBinding`] if the annotation is neither a count of at least 1 nor a percentage from 1 to 100, or if the strategy does not
/// promise to respect capacity, or if the resource has several components.
pub(super) fn quorum(
    input: &PlanInput<'_>,
    carriers: Carriers<'_>,
    strategy: &str,
    declarations: &Declarations,
) -> Result<Option<i64>, InvalidBinding> {
    let Some(written) = carriers.quorum() else {
        return Ok(None);
    };
    let quorum = permitted(written, input, strategy, declarations);
    let quorum = quorum.map_err(|error| error.of_annotation(QUORUM_ANNOTATION))?;
    Ok(Some(quorum).filter(|quorum| *quorum < input.replicas))
}

/// The quorum that is written, if the binding can have one.
fn permitted(
    written: Written<'_>,
    input: &PlanInput<'_>,
    strategy: &str,
    declarations: &Declarations,
) -> Result<i64, InvalidBinding> {
    let Written { text, origin, .. } = written;
    let Some(replicas) = read(text, input.replicas) else {
        return Err(invalid(text, origin));
    };
    if input.components.len() > 1 {
        return Err(InvalidBinding::QuorumOfComponents { origin });
    }
    if !declarations
        .get(strategy)
        .is_some_and(|declared| declared.respects_capacity)
    {
        let strategy = strategy.to_owned();
        return Err(InvalidBinding::QuorumNotAllowed { origin, strategy });
    }
    Ok(replicas)
}

/// Checks a quorum as it is written, for any number of replicas.
pub(super) fn check(written: &str, origin: String) -> Result<(), InvalidBinding> {
    // The number decides what a percentage means, and not whether it is valid.
    read(written, 1).map(drop).ok_or_else(|| invalid(written, origin))
}

fn invalid(written: &str, origin: String) -> InvalidBinding {
    InvalidBinding::InvalidValue {
        origin,
        expected: "a count of at least 1, or a percentage from `1%` to `100%`".to_owned(),
        actual: written.to_owned(),
    }
}

/// The replicas that a text asks for; `None` if it is invalid.
fn read(text: &str, requested: i64) -> Option<i64> {
    // `u32` also accepts a sign.
    let number = |digits: &str| {
        digits
            .bytes()
            .all(|byte| byte.is_ascii_digit())
            .then(|| digits.parse::<u32>().ok())
    };
    match text.strip_suffix('%') {
        Some(percent) => {
            let percent = number(percent)
                .flatten()
                .filter(|percent| (1..=100).contains(percent))?;
            // Requested replicas have 32 bits.
            Some(requested.saturating_mul(i64::from(percent)).saturating_add(99) / 100)
        }
        None => number(text).flatten().filter(|count| *count > 0).map(i64::from),
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn a_quorum_is_a_count_or_a_percentage_rounded_up() {
        let cases = [
            ("60", 100, Some(60)),
            ("1", 100, Some(1)),
            ("60%", 100, Some(60)),
            ("60%", 11, Some(7)),
            ("1%", 10, Some(1)),
            ("100%", 10, Some(10)),
            ("34%", 3, Some(2)),
            ("50%", i64::from(i32::MAX), Some(1_073_741_824)),
            ("4294967295", 10, Some(4_294_967_295)),
            ("0", 10, None),
            ("0%", 10, None),
            ("101%", 10, None),
            ("-1", 10, None),
            ("+6", 10, None),
            ("6.5%", 10, None),
            ("60 %", 10, None),
            ("%", 10, None),
            ("", 10, None),
            ("half", 10, None),
            ("4294967296", 10, None),
        ];
        for (text, requested, expected) in cases {
            assert_eq!(read(text, requested), expected, "`{text}` of {requested}");
        }
    }
}
