//! One life: a script from its first step to rest, or to the first breach of a rule.

use crate::error::Error;
use crate::profiles::Profiles;
use crate::rules::Verdict;
use crate::script::Script;
use crate::story::Log;
use crate::world::World;

/// The end of a life.
#[derive(Debug, Clone)]
pub(crate) struct Life {
    /// The breach of a rule that ended it; `None` if it came to rest.
    pub(crate) verdict: Option<Verdict>,
    /// A number that differs whenever anything that happened does.
    pub(crate) digest: u64,
    /// Things that happened, the passing of time aside.
    pub(crate) events: u64,
    /// Decisions that changed a result, of which so many took replicas away.
    pub(crate) decisions: (u64, u64),
    /// Decisions on an open fleet after which a cluster has more reported and held than allocatable.
    pub(crate) overcommitted: u64,
    /// Evictions that ended because they were replaced.
    pub(crate) evictions: u64,
    /// Results that were written on the way of a move.
    pub(crate) steps: u64,
    /// Targets that plans gave bindings.
    pub(crate) targets: u64,
    /// Bursts that were decided as one plan.
    pub(crate) bursts: u64,
    /// The story, if it was kept.
    pub(crate) story: Vec<String>,
}

/// Lives a script.
pub(crate) fn live(script: &Script, profiles: &Profiles, keeps_story: bool) -> Result<Life, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .map_err(Error::Runtime)?;
    let log = Log::new(keeps_story);
    let life = runtime.block_on(async {
        let world = World::live(script, profiles, log).await;
        Life {
            verdict: world.verdict.clone(),
            digest: world.log.digest(),
            events: world.events,
            decisions: (world.books.decisions, world.books.takings),
            overcommitted: world.books.overcommitted,
            evictions: world.books.evictions,
            steps: world.books.steps,
            targets: world.books.targets,
            bursts: world.books.bursts,
            story: world.log.lines().to_vec(),
        }
    });
    Ok(life)
}
