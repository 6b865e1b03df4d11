//! The shortest script that breaks the same rule.

use crate::error::Error;
use crate::life::live;
use crate::profiles::Profiles;
use crate::rules::Rule;
use crate::script::{Script, Step};

/// Leaves out steps as long as the same rule is broken: first halves, then smaller parts, then single steps, until none can be left
/// out.
pub(crate) fn shrink(script: &Script, profiles: &Profiles) -> Result<Script, Error> {
    let broken = |steps: &[Step]| -> Result<Option<Rule>, Error> {
        let script = Script {
            setup: script.setup.clone(),
            steps: steps.to_vec(),
        };
        Ok(live(&script, profiles, false)?.verdict.map(|verdict| verdict.rule))
    };
    let mut steps = script.steps.clone();
    let Some(rule) = broken(&steps)? else {
        return Ok(script.clone());
    };
    let mut size = steps.len().div_ceil(2).max(1);
    loop {
        let mut start = 0;
        let mut has_shrunk = false;
        while start < steps.len() {
            let end = (start + size).min(steps.len());
            let mut fewer = steps.clone();
            fewer.drain(start..end);
            if broken(&fewer)? == Some(rule) {
                steps = fewer;
                has_shrunk = true;
            } else {
                start = end;
            }
        }
        match (size, has_shrunk) {
            (1, false) => break,
            (1, true) => {}
            _ => size = size.div_ceil(2),
        }
    }
    Ok(Script {
        setup: script.setup.clone(),
        steps,
    })
}
