//! The parts of a binding that a plugin declares to act on: a host that calls it for every binding decides the same.

use std::sync::Arc;

use divvy_framework_abi::sized::kind;
use divvy_scheduler::profile::Profile;

use super::Check;
use crate::case::Case;
use crate::subject::{PANIC, Shown, Subject, described, differ, explanation_of, shown};

/// The check of the declaration.
pub(super) fn check() -> Check {
    Check::per_case(
        "acts-on",
        "as declared, a call for a binding without the parts that the plugin acts on changes nothing",
        |subject| {
            [kind::FILTER, kind::SCORE]
                .into_iter()
                .any(|point| subject.acts_on(point) != 0)
        },
        acts_on,
    )
}

fn acts_on(subject: &Subject, case: &Case) -> Result<Shown, String> {
    let Ok(situation) = subject.read(case) else {
        return Ok(Shown::Nothing);
    };
    let trusting = subject.profile();
    let distrusting = Arc::new(Profile::clone(&trusting).distrusting_parts_of(subject.plugin()));
    let [trusted, called] = [trusting, distrusting].map(|profile| {
        let mut scheduler = situation.scheduler(profile).explaining(true);
        scheduler.schedule(&situation.binding, &situation.fleet)
    });
    let (without, with) = (described(&trusted), described(&called));
    if differ(&without, &with) {
        return Err(format!(
            "the binding has none of the parts that the plugin acts on: without a call `{without}`, with one `{with}`"
        ));
    }
    // A second panic may be a quarantine instead, whose explanation differs.
    if [without.as_str(), &with].contains(&PANIC) {
        return Ok(Shown::Nothing);
    }
    // Only the explanation shows a rejection of a cluster that another filter rejects as well, or a score of 0 with a remark.
    match explanation_of(&trusted) == explanation_of(&called) {
        true => Ok(shown(&called)),
        false => Err(format!(
            "the binding has none of the parts that the plugin acts on, but a call changes the explanation of `{without}`"
        )),
    }
}
