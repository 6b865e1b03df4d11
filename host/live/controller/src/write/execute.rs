//! The requests of a write, and the consequences of each answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::Request as HttpRequest;
use divvy_client::{REQUEST_DEADLINE, asked_wait, delay, worded};
use divvy_karmada::api::TargetCluster;
use kube::Client;
use kube::api::{Patch, PatchParams};
use kube::core::{Request, Status};
use serde_json::Value;
use tokio::time::{sleep, timeout};

use super::patch::{is_applied, specification_patch, status_patch};
use super::rights::Rights;
use super::{SpecificationPatch, StatusWanted, WriteJob, WriteOutcome, Written};
use crate::condition::ScheduledReason;
use crate::lease::Fence;
use crate::objects::{Fetched, Kind, read_metadata};
use crate::observe::{Metrics, WriteKind, WriteResult};
use crate::outage::{Outage, is_outage, lacks_right};
use crate::queue::doubled;

/// Attempts of one request before it is given up. The waits between them add up to about seven seconds.
const ATTEMPTS: u32 = 6;
/// Wait before the second attempt; it doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(250);
/// Maximum wait that the API server may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Answer to one request.
enum Answer {
    /// It succeeded, with this object.
    Done(Box<Fetched>),
    /// The object is not at the expected version.
    Conflict,
    /// The object is gone, is another one of that name, or its namespace is being deleted.
    Gone,
    /// The API server refuses it for good.
    Refused(ScheduledReason, String),
    /// The API server lacks a right to it, perhaps because it is starting.
    Forbidden(String),
    /// It failed, but may succeed later: after this wait, if the server asked for one.
    Later(String, Option<Duration>),
    /// Its outcome is not known: the answer did not come.
    Unknown(String),
}

impl Answer {
    /// The answer, as metrics count it.
    fn result(&self) -> WriteResult {
        match self {
            Self::Done(_) => WriteResult::Written,
            Self::Conflict => WriteResult::Conflict,
            Self::Gone | Self::Refused(..) => WriteResult::Refused,
            Self::Forbidden(_) | Self::Later(..) | Self::Unknown(_) => WriteResult::Failed,
        }
    }
}

/// Writes bindings.
#[derive(Clone)]
pub struct Writer {
    client: Client,
    fence: Fence,
    metrics: Arc<Metrics>,
    latency: Duration,
    outage: Outage,
    rights: Arc<Rights>,
}

impl Writer {
    /// A writer that asks `fence` before each request that changes something.
    pub fn new(client: Client, fence: Fence, metrics: Arc<Metrics>) -> Self {
        Self {
            client,
            fence,
            metrics,
            latency: Duration::ZERO,
            outage: Outage::default(),
            rights: Arc::default(),
        }
    }

    /// Reports to `outage` whether the API server answers.
    #[must_use]
    pub(crate) fn reporting(self, outage: Outage) -> Self {
        Self { outage, ..self }
    }

    /// Waits before each patch, to measure the effect of a slow API server.
    #[must_use]
    pub(crate) fn delayed(self, latency: Duration) -> Self {
        Self { latency, ..self }
    }

    /// Writes a job: the specification, then the status.
    pub async fn write(&self, job: &WriteJob) -> Written {
        let mut written = Written {
            generation: Some(job.decided().generation()),
            ..Written::default()
        };
        let mut status = job.status.clone();
        let mut refusal = None;
        if let Some(patch) = &job.specification {
            match self.write_specification(job, patch, &mut written).await {
                Ok(latest) => {
                    written.wrote_specification = true;
                    written.generation = Some(latest.metadata.generation);
                    written.latest = Some(latest);
                }
                Err(refused @ WriteOutcome::Refused(ScheduledReason::QuotaExceeded, _)) if job.is_step => {
                    written.outcome = refused;
                    return written;
                }
                Err(WriteOutcome::Refused(reason, message)) => {
                    // The group that was tried is recorded even then, as in Karmada.
                    status = StatusWanted {
                        affinity: status.affinity,
                        ..StatusWanted::condition_alone(reason, message.clone(), status.now)
                    };
                    refusal = Some(WriteOutcome::Refused(reason, message));
                }
                Err(outcome) => {
                    written.outcome = outcome;
                    return written;
                }
            }
        }
        let outcome = self.write_status(job, &status, &mut written).await;
        written.outcome = match (refusal, outcome) {
            (_, outcome @ (WriteOutcome::Gone | WriteOutcome::Fenced)) => outcome,
            (Some(refusal), _) => refusal,
            (None, WriteOutcome::Failed(message)) if written.wrote_specification => WriteOutcome::HalfWritten(message),
            (None, outcome) => outcome,
        };
        written
    }

    /// Patches the specification. Sends it again if only the status or other metadata moved the version.
    async fn write_specification(
        &self,
        job: &WriteJob,
        patch: &SpecificationPatch,
        written: &mut Written,
    ) -> Result<Fetched, WriteOutcome> {
        let mut version = job.decided().resource_version();
        let mut failure = String::new();
        // An attempt whose outcome is not known may be the write that later ones conflict with.
        let mut is_known = true;
        for attempt in 0..ATTEMPTS {
            let body = specification_patch(job, patch, &version);
            match self.patch(job, None, &body).await? {
                Answer::Done(fetched) => return Ok(*fetched),
                Answer::Gone => return Err(WriteOutcome::Gone),
                Answer::Refused(reason, message) => return Err(WriteOutcome::Refused(reason, message)),
                Answer::Conflict => {
                    written.conflicts += 1;
                    "the binding kept changing".clone_into(&mut failure);
                }
                Answer::Forbidden(message) => {
                    if let Some(rule) = self.missing_right(job, None, &message) {
                        return Err(WriteOutcome::Refused(ScheduledReason::SchedulerError, rule));
                    }
                    failure = message;
                    self.wait(attempt, None).await;
                    continue;
                }
                Answer::Later(message, wait) => {
                    failure = message;
                    self.wait(attempt, wait).await;
                    continue;
                }
                Answer::Unknown(message) => {
                    failure = message;
                    is_known = false;
                    self.wait(attempt, None).await;
                }
            }
            let current = match self.read(job).await {
                Answer::Done(current) => current,
                Answer::Gone => return Err(WriteOutcome::Gone),
                Answer::Forbidden(_) | Answer::Later(..) | Answer::Unknown(_) | Answer::Conflict => continue,
                Answer::Refused(_, message) => return Err(WriteOutcome::Failed(message)),
            };
            let decided = job.decided().record();
            // An answer was lost, but its request was not.
            if !is_known
                && current.metadata.resource_version != version
                && current
                    .clusters()
                    .is_ok_and(|clusters| is_applied(patch, &current.metadata, &clusters))
            {
                let own = decided.generation + i64::from(patch.clusters.is_some());
                if current.metadata.generation <= own {
                    return Ok(*current);
                }
                // It was changed again since, and that version is not decided.
                written.wrote_specification = true;
                written.generation = Some(own);
                written.latest = Some(*current);
                return Err(WriteOutcome::Superseded);
            }
            let is_same = current.metadata.generation == decided.generation
                && read_metadata(&current.metadata) == decided.metadata;
            let is_of_version = patch.mark.is_some() || patch.ends_plan;
            let is_exact = is_of_version && current.metadata.resource_version != version;
            if is_exact {
                written.latest = Some(*current);
                return Err(WriteOutcome::Superseded);
            }
            if !is_same {
                return Err(WriteOutcome::Superseded);
            }
            version.clone_from(&current.metadata.resource_version);
        }
        Err(WriteOutcome::Failed(failure))
    }

    /// Patches the status, beginning with the newest object that is known. Reads the binding again after a conflict: another
    /// controller wrote its own part.
    async fn write_status(&self, job: &WriteJob, wanted: &StatusWanted, written: &mut Written) -> WriteOutcome {
        let decided = job.decided();
        // The observed generation stays that of this decision, even if the specification changes meanwhile.
        let (mut version, generation, status) = match &written.latest {
            Some(latest) => {
                let metadata = &latest.metadata;
                (metadata.resource_version.clone(), metadata.generation, latest.status())
            }
            None => {
                let record = decided.record();
                (decided.resource_version(), record.generation, Ok(record.status()))
            }
        };
        let mut current = match status {
            Ok(status) => status,
            Err(error) => return unreadable(&error),
        };
        let mut failure = String::new();
        for attempt in 0..ATTEMPTS {
            let Some(body) = status_patch(decided.uid(), &version, generation, &current, wanted) else {
                return WriteOutcome::Done;
            };
            match self.patch(job, Some("status"), &body).await {
                Err(outcome) => return outcome,
                Ok(Answer::Done(fetched)) => {
                    written.latest = Some(*fetched);
                    written.wrote_status = true;
                    return WriteOutcome::Done;
                }
                Ok(Answer::Gone) => return WriteOutcome::Gone,
                Ok(Answer::Refused(_, message)) => return WriteOutcome::Failed(message),
                Ok(Answer::Conflict) => {
                    written.conflicts += 1;
                    "the binding kept changing".clone_into(&mut failure);
                }
                Ok(Answer::Forbidden(message)) => {
                    _ = self.missing_right(job, Some("status"), &message);
                    failure = message;
                    self.wait(attempt, None).await;
                    continue;
                }
                Ok(Answer::Later(message, wait)) => {
                    failure = message;
                    self.wait(attempt, wait).await;
                    continue;
                }
                Ok(Answer::Unknown(message)) => {
                    failure = message;
                    self.wait(attempt, None).await;
                }
            }
            let read = match self.read_patiently(job).await {
                Ok(read) => read,
                Err(outcome) => return outcome,
            };
            if !written.wrote_specification && read.metadata.generation != generation {
                return WriteOutcome::Superseded;
            }
            current = match read.status() {
                Ok(status) => status,
                Err(error) => return unreadable(&error),
            };
            version = read.metadata.resource_version;
        }
        WriteOutcome::Failed(failure)
    }

    async fn read_patiently(&self, job: &WriteJob) -> Result<Fetched, WriteOutcome> {
        let mut failure = String::new();
        for attempt in 0..ATTEMPTS {
            match self.read(job).await {
                Answer::Done(current) => return Ok(*current),
                Answer::Gone => return Err(WriteOutcome::Gone),
                Answer::Refused(_, message) => return Err(WriteOutcome::Failed(message)),
                Answer::Later(message, wait) => {
                    failure = message;
                    self.wait(attempt, wait).await;
                }
                Answer::Forbidden(message) | Answer::Unknown(message) => {
                    failure = message;
                    self.wait(attempt, None).await;
                }
                Answer::Conflict => {}
            }
        }
        Err(WriteOutcome::Failed(failure))
    }

    async fn patch(&self, job: &WriteJob, subresource: Option<&str>, body: &Value) -> Result<Answer, WriteOutcome> {
        let path = Request::new(Kind::binding(job.key.scope).path(&job.key.namespace));
        let parameters = PatchParams::default();
        let body = Patch::Merge(body);
        let request = match subresource {
            Some(subresource) => path.patch_subresource(subresource, &job.key.name, &parameters, &body),
            None => path.patch(&job.key.name, &parameters, &body),
        };
        let request = request.map_err(|error| WriteOutcome::Failed(error.to_string()))?;
        delay(self.latency).await;
        // Right before the request starts: a lease may have ended while the job waited.
        if !self.fence.allows(job.term) {
            return Err(WriteOutcome::Fenced);
        }
        let started = Instant::now();
        let answer = self.send(job, request).await;
        let kind = match subresource {
            Some(_) => WriteKind::Status,
            None => WriteKind::Specification,
        };
        self.metrics.write(kind, answer.result(), started.elapsed());
        let resource = resource(job, subresource);
        if !matches!(answer, Answer::Forbidden(_) | Answer::Unknown(_) | Answer::Later(..))
            && self.rights.granted(&resource)
        {
            self.metrics.missing_right(&resource, false);
        }
        Ok(answer)
    }

    /// Reaction to a right to patch that is missing; `None` as long as the API server may merely be starting.
    fn missing_right(&self, job: &WriteJob, subresource: Option<&str>, cause: &str) -> Option<String> {
        let resource = resource(job, subresource);
        let rule = self.rights.refused(&resource, cause, &self.outage, Instant::now())?;
        self.metrics.missing_right(&resource, true);
        Some(format!(
            "the scheduler may not patch {resource}: its ClusterRole lacks the rule {rule}"
        ))
    }

    async fn read(&self, job: &WriteJob) -> Answer {
        let path = Request::new(Kind::binding(job.key.scope).path(&job.key.namespace));
        match path.get(&job.key.name, &kube::api::GetParams::default()) {
            Ok(request) => self.send(job, request).await,
            Err(error) => Answer::Refused(ScheduledReason::SchedulerError, error.to_string()),
        }
    }

    async fn send(&self, job: &WriteJob, request: HttpRequest<Vec<u8>>) -> Answer {
        let answer = timeout(REQUEST_DEADLINE, self.client.request::<Fetched>(request)).await;
        match &answer {
            Ok(Err(error)) if is_outage(error) => _ = self.outage.failed(&worded(error)),
            Err(_) => _ = self.outage.failed("no answer in time"),
            Ok(_) => self.outage.answered(),
        }
        match answer {
            Ok(Ok(fetched)) if fetched.metadata.uid != job.decided().uid() => Answer::Gone,
            Ok(Ok(fetched)) => Answer::Done(Box::new(fetched)),
            Ok(Err(kube::Error::Api(status))) => judge(&status),
            Ok(Err(error)) => Answer::Unknown(worded(&error)),
            Err(_) => Answer::Unknown(format!("no answer within {REQUEST_DEADLINE:?}")),
        }
    }

    async fn wait(&self, attempt: u32, asked: Option<Duration>) {
        let own = || doubled(FIRST_WAIT, attempt.saturating_add(1), LONGEST_WAIT);
        sleep(asked.map_or_else(own, |asked| asked.min(LONGEST_WAIT))).await;
    }
}

/// The outcome if a status has a field of another type. A patch would remove the conditions that were not read.
fn unreadable(error: &serde_json::Error) -> WriteOutcome {
    WriteOutcome::Failed(format!("the status cannot be read: {error}"))
}

/// The resource that a patch needs a right to.
fn resource(job: &WriteJob, subresource: Option<&str>) -> String {
    let plural = Kind::binding(job.key.scope).plural();
    match subresource {
        Some(subresource) => format!("{plural}/{subresource}"),
        None => plural.to_owned(),
    }
}

/// Classifies an error of the API server.
fn judge(status: &Status) -> Answer {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let has_cause = |reason: &str| status.reason == reason || causes.clone().any(|cause| cause.reason == reason);
    let asked = asked_wait(status);
    match status.code {
        404 => Answer::Gone,
        409 => Answer::Conflict,
        403 if has_cause("NamespaceTerminating") => Answer::Gone,
        403 if has_cause(ScheduledReason::QuotaExceeded.as_str()) => {
            Answer::Refused(ScheduledReason::QuotaExceeded, status.message.clone())
        }
        // A starting API server has not loaded its roles yet.
        403 if lacks_right(status) => Answer::Forbidden(status.message.clone()),
        // The UID is immutable, so a patch of another object of this name is invalid.
        422 if causes.clone().any(|cause| cause.field == "metadata.uid") => Answer::Gone,
        // The credentials may be in the middle of a rotation.
        401 | 408 | 429 => Answer::Later(status.message.clone(), asked),
        // The request may have been carried out before the server failed.
        500..=599 => match asked {
            Some(_) => Answer::Later(status.message.clone(), asked),
            None => Answer::Unknown(status.message.clone()),
        },
        _ => Answer::Refused(ScheduledReason::SchedulerError, status.message.clone()),
    }
}

/// Clusters and replicas for a message: `{m1:2, m2:1}`.
pub(crate) fn described(targets: &[TargetCluster]) -> String {
    let each: Vec<String> = targets
        .iter()
        .map(|target| format!("{}:{}", target.name, target.replicas))
        .collect();
    format!("{{{}}}", each.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(answer: &Answer) -> &'static str {
        match answer {
            Answer::Done(_) => "done",
            Answer::Conflict => "conflict",
            Answer::Gone => "gone",
            Answer::Refused(ScheduledReason::QuotaExceeded, _) => "quota",
            Answer::Refused(..) => "refused",
            Answer::Forbidden(_) => "forbidden",
            Answer::Later(..) => "later",
            Answer::Unknown(_) => "unknown",
        }
    }

    #[test]
    fn errors_of_the_api_server_are_told_apart() {
        let cases = [
            (serde_json::json!({"code": 404}), "gone"),
            (serde_json::json!({"code": 409, "reason": "Conflict"}), "conflict"),
            (serde_json::json!({"code": 403, "reason": "QuotaExceeded"}), "quota"),
            (
                serde_json::json!({"code": 403, "reason": "Forbidden", "details": {"causes": [{"reason": "NamespaceTerminating"}]}}),
                "gone",
            ),
            (serde_json::json!({"code": 403, "reason": "Forbidden"}), "refused"),
            (
                serde_json::json!({"code": 403, "reason": "Forbidden", "message": "resourcebindings.work.karmada.io \"web\" is forbidden: User \"divvy\" cannot patch resource \"resourcebindings\""}),
                "forbidden",
            ),
            (
                serde_json::json!({"code": 422, "reason": "Invalid", "details": {"causes": [{"field": "metadata.uid"}]}}),
                "gone",
            ),
            (serde_json::json!({"code": 422, "reason": "Invalid"}), "refused"),
            (serde_json::json!({"code": 401, "reason": "Unauthorized"}), "later"),
            (
                serde_json::json!({"code": 429, "details": {"retryAfterSeconds": 1}}),
                "later",
            ),
            (serde_json::json!({"code": 500}), "unknown"),
            (serde_json::json!({"code": 504}), "unknown"),
        ];
        for (status, expected) in cases {
            let parsed: Status = serde_json::from_value(status.clone()).unwrap();
            assert_eq!(word(&judge(&parsed)), expected, "{status}");
        }
    }
}
