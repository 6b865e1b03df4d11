//! The world around a scheduler, in memory and under virtual time: one API server, Karmada's other controllers, member clusters with nodes and
//! pods, faults of requests, and chance.
//!
//! - [`server`]: objects with versions and generations, a history that watches read, merge patches with preconditions; requests, their
//!   answers, and the faults that meet them.
//! - [`plane`]: the API server together with Karmada's controllers and the members.
//! - [`member`]: nodes and pods of one cluster, and its reports.
//! - [`lease`]: the record that schedulers contend for.
//! - [`agenda`], [`random`]: virtual time and chance, all from one seed.
//!
//! It knows no scheduler and judges nothing. Whoever uses it brings an engine or a process, and the rules: `tests/simulation` lives whole
//! lives in it, with the real writer and election; `tests/controller` looks at one engine; `tests/load` serves it over HTTP.
//!
//! Two stand-ins are not here. That of `tests/control-plane/src/karmada` runs the same controllers against a real API server, which is there to
//! show what real servers do: it is made of requests and waits, and would be slower and no more true over this one. And the election's own
//! simulation in `host/live/controller` explores every order of requests of two contenders, which needs no world.

pub mod agenda;
pub mod lease;
pub mod member;
pub mod plane;
pub mod random;
pub mod server;
