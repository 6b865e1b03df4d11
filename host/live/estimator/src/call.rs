//! One call to one estimator: the request out, the count back.

use std::time::Duration;

use http::uri::PathAndQuery;
use tonic::client::Grpc;
use tonic::transport::Channel;
use tonic_prost::ProstCodec;

use crate::error::CallError;
use crate::message::{
    MAX_AVAILABLE_COMPONENT_SETS, MAX_AVAILABLE_REPLICAS, MaxAvailableComponentSetsRequest,
    MaxAvailableComponentSetsResponse, MaxAvailableReplicasRequest, MaxAvailableReplicasResponse,
};
use crate::request::{AssumedWorkload, Content};

/// Maximum size of an answer in bytes. Real ones have a dozen.
const ANSWER_SIZE_MAX: usize = 4096;

/// The count of an estimator that has no figure.
const NO_FIGURE: i32 = -1;

/// Asks through `channel` and returns the count; `None` if the estimator has no figure.
///
/// The request carries `deadline`, so that the estimator stops counting once its answer would be late. The caller enforces it.
pub(crate) async fn call(
    channel: Channel,
    cluster: &str,
    content: &Content,
    assumed: &[AssumedWorkload],
    deadline: Duration,
) -> Result<Option<i64>, CallError> {
    let cluster = cluster.to_owned();
    let assumed_workloads = assumed.iter().map(|workload| workload.0.clone()).collect();
    let count = match content {
        Content::Replicas(requirements) => {
            let request = MaxAvailableReplicasRequest {
                cluster,
                replica_requirements: Some(requirements.clone()),
                assumed_workloads,
            };
            let answer: MaxAvailableReplicasResponse =
                unary(channel, MAX_AVAILABLE_REPLICAS, request, deadline).await?;
            answer.max_replicas
        }
        Content::Sets { namespace, components } => {
            let request = MaxAvailableComponentSetsRequest {
                cluster,
                components: components.clone(),
                namespace: namespace.clone(),
                assumed_workloads,
            };
            let answer: MaxAvailableComponentSetsResponse =
                unary(channel, MAX_AVAILABLE_COMPONENT_SETS, request, deadline).await?;
            answer.max_sets
        }
    };
    match count {
        0.. => Ok(Some(count.into())),
        NO_FIGURE => Ok(None),
        _ => Err(CallError::Count { count }),
    }
}

async fn unary<Q, A>(channel: Channel, method: &'static str, message: Q, deadline: Duration) -> Result<A, CallError>
where
    Q: prost::Message + Send + Sync + 'static,
    A: prost::Message + Default + Send + Sync + 'static,
{
    let mut client = Grpc::new(channel).max_decoding_message_size(ANSWER_SIZE_MAX);
    client.ready().await.map_err(|error| CallError::Connect {
        causes: crate::wording::causes(&error),
    })?;
    let mut request = tonic::Request::new(message);
    request.set_timeout(deadline);
    let path = PathAndQuery::from_static(method);
    let answer = client.unary(request, path, ProstCodec::<Q, A>::default()).await?;
    Ok(answer.into_inner())
}
