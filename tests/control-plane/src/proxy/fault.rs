//! Faults: the requests that they hit, how often, and their effects.

use std::fmt;
use std::time::Duration;

use http::Method;

use crate::users::User;

/// The parts of a request by which a fault chooses.
#[derive(Debug, Clone)]
pub struct Incoming {
    /// The HTTP method.
    pub method: Method,
    /// The path, without the query.
    pub path: String,
    /// The query; empty if there is none.
    pub query: String,
    /// The bearer token; empty if there is none.
    pub token: String,
}

impl Incoming {
    /// True for a watch.
    pub fn is_watch(&self) -> bool {
        self.query
            .split('&')
            .any(|pair| matches!(pair, "watch=true" | "watch=1"))
    }

    /// True for a list or a watch of this plural name.
    pub fn lists(&self, plural: &str) -> bool {
        self.method == Method::GET && self.path.ends_with(&format!("/{plural}"))
    }

    /// True for a patch of an object of this plural name, but not of its status.
    pub fn patches(&self, plural: &str) -> bool {
        self.patch_of(plural).is_some_and(|rest| !rest.contains('/'))
    }

    /// True for a patch of the status of an object of this plural name.
    pub fn patches_status(&self, plural: &str) -> bool {
        self.patch_of(plural).is_some_and(|rest| rest.ends_with("/status"))
    }

    /// True for a request that bears the token of a user.
    pub fn is_by(&self, user: User) -> bool {
        self.token == user.token()
    }

    /// True for anything but a read.
    pub fn is_write(&self) -> bool {
        self.method != Method::GET
    }

    fn patch_of(&self, plural: &str) -> Option<&str> {
        let plural = format!("/{plural}/");
        let start = (self.method == Method::PATCH)
            .then(|| self.path.find(&plural))
            .flatten()?;
        Some(&self.path[start + plural.len()..])
    }
}

/// Effect of a fault on a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// It is refused with this status, and never reaches the API server.
    Refuse {
        /// The HTTP status.
        code: u16,
        /// The reason, as a word for programs.
        reason: &'static str,
        /// The message.
        message: &'static str,
    },
    /// It reaches the API server after this time.
    Delay(Duration),
    /// It reaches the API server at once, but the answer takes this time.
    DelayAnswer(Duration),
    /// The connection breaks before it reaches the API server.
    LoseRequest,
    /// It is carried out, and the connection breaks instead of the answer.
    LoseAnswer,
    /// It is never answered, and never reaches the API server.
    Hang,
    /// The answer breaks off after this time, as a watch does whose connection is lost.
    BreakOff(Duration),
    /// A watch begins with the error that its version is too old.
    Expire,
}

impl Effect {
    /// Everything that may happen to a write and goes away by itself; answers are late by `delay`.
    pub fn passing(delay: Duration) -> [Self; 6] {
        [
            Self::conflict(),
            Self::too_many_requests(),
            Self::dead_webhook(),
            Self::LoseRequest,
            Self::LoseAnswer,
            Self::DelayAnswer(delay),
        ]
    }

    /// The refusal of Karmada's webhook for a binding that exceeds a `FederatedResourceQuota`.
    pub fn quota_exceeded() -> Self {
        Self::Refuse {
            code: 403,
            reason: "QuotaExceeded",
            message: "admission webhook \"resourcebinding.karmada.io\" denied the request: FederatedResourceQuota default/quota exceeded",
        }
    }

    /// The refusal of an API server whose webhook does not answer.
    pub fn dead_webhook() -> Self {
        Self::Refuse {
            code: 500,
            reason: "InternalError",
            message: "failed calling webhook \"resourcebinding.karmada.io\": context deadline exceeded",
        }
    }

    /// The refusal of a write to an older version.
    pub fn conflict() -> Self {
        Self::Refuse {
            code: 409,
            reason: "Conflict",
            message: "the object has been modified; please apply your changes to the latest version and try again",
        }
    }

    /// The refusal of credentials that the API server does not know.
    pub fn unauthorized() -> Self {
        Self::Refuse {
            code: 401,
            reason: "Unauthorized",
            message: "Unauthorized",
        }
    }

    /// The refusal of a user who may not list a kind.
    pub fn forbidden() -> Self {
        Self::Refuse {
            code: 403,
            reason: "Forbidden",
            message: "clusters.cluster.karmada.io is forbidden: the user cannot list it at the cluster scope",
        }
    }

    /// The answer of an API server that does not serve a kind.
    pub fn not_served() -> Self {
        Self::Refuse {
            code: 404,
            reason: "NotFound",
            message: "the server could not find the requested resource",
        }
    }

    /// The refusal of an overloaded API server.
    pub fn too_many_requests() -> Self {
        Self::Refuse {
            code: 429,
            reason: "TooManyRequests",
            message: "too many requests, please try again later",
        }
    }
}

/// Number of requests that a fault hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frequency {
    /// Every request that it chooses.
    Always,
    /// This number of requests from now on.
    Next(usize),
    /// One in this number, at random.
    OneIn(u64),
}

/// A fault.
pub struct Fault {
    pub(super) chooses: Box<dyn Fn(&Incoming) -> bool + Send + Sync>,
    pub(super) effect: Effect,
    pub(super) frequency: Frequency,
}

impl Fault {
    /// A fault that hits the requests for which `chooses` is true.
    pub fn new(
        effect: Effect,
        frequency: Frequency,
        chooses: impl Fn(&Incoming) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self {
            chooses: Box::new(chooses),
            effect,
            frequency,
        }
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { effect, frequency, .. } = self;
        write!(formatter, "{effect:?} {frequency:?}")
    }
}
