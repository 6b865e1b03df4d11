//! The connection to one cluster's estimator.
//!
//! The first address that accepts a connection is kept. The channel reconnects by itself; after [`Connection::reset`], the
//! next call looks the address up again. Certificates are read from their files for each new channel, so rotated ones are
//! picked up.
//!
//! HTTP/2 keep-alive pings are deliberately off: gRPC servers in Go close connections that ping more than once in five
//! minutes. TCP keep-alives find dead peers instead.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};

use crate::address::{Address, Addressing, ServiceLookup};
use crate::error::CallError;
use crate::wording::causes;

/// Time without traffic before TCP probes a connection.
const TCP_KEEPALIVE: Duration = Duration::from_secs(30);

/// Calls that wait in a channel for their turn. Connections multiplex, so there are few.
const WAITING_CALLS_MAX: usize = 64;

/// Settings for connections to the estimators.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Transport {
    /// Without encryption, Karmada's default.
    #[default]
    Plaintext,
    /// With TLS.
    Tls(Tls),
}

/// Files and checks of TLS connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tls {
    /// Check of the estimators' certificates.
    pub verification: Verification,
    /// The certificate that the scheduler presents, if estimators require one.
    pub client: Option<ClientCertificate>,
}

/// Check of a server's certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verification {
    /// It must be signed by one of the authorities in this PEM file and name the host that is connected to.
    Authorities(PathBuf),
    /// It is not checked at all. Anyone on the path can then answer for an estimator.
    Skip,
}

/// A client certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientCertificate {
    /// PEM file with the certificate and its chain.
    pub certificate: PathBuf,
    /// PEM file with the private key.
    pub key: PathBuf,
}

/// The connection to one cluster's estimator, established by the first call.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    established: Mutex<Option<Channel>>,
    /// Held while connecting, so that concurrent calls share one attempt.
    connecting: tokio::sync::Mutex<()>,
}

impl Connection {
    /// The channel, connected if necessary. Dropping the future abandons the attempt.
    ///
    /// `patience` is the time per address.
    pub(crate) async fn channel(
        &self,
        cluster: &str,
        addressing: &Addressing,
        transport: &Transport,
        services: &dyn ServiceLookup,
        patience: Duration,
    ) -> Result<Channel, CallError> {
        if let Some(channel) = self.current() {
            return Ok(channel);
        }
        let _turn = self.connecting.lock().await;
        if let Some(channel) = self.current() {
            return Ok(channel);
        }
        let candidates = addressing.candidates(cluster, services).await?;
        let mut failed = String::new();
        for address in &candidates {
            let endpoint = endpoint(address, transport).await?;
            let problem = match tokio::time::timeout(patience, endpoint.connect()).await {
                Ok(Ok(channel)) => {
                    *self.lock() = Some(channel.clone());
                    return Ok(channel);
                }
                Ok(Err(error)) => causes(&error),
                Err(_) => format!("no connection within {} ms", patience.as_millis()),
            };
            let separator = if failed.is_empty() { "" } else { "; " };
            // Writing to a string cannot fail.
            let _ = write!(failed, "{separator}`{address}`: {problem}");
        }
        Err(CallError::Connect { causes: failed })
    }

    /// Drops the channel. Calls under way on it are not affected.
    pub(crate) fn reset(&self) {
        *self.lock() = None;
    }

    fn current(&self) -> Option<Channel> {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Channel>> {
        self.established.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn endpoint(address: &Address, transport: &Transport) -> Result<Endpoint, CallError> {
    let scheme = match transport {
        Transport::Plaintext => "http",
        Transport::Tls(_) => "https",
    };
    let unusable = |error: tonic::transport::Error| CallError::Connect {
        causes: format!("`{address}`: {}", causes(&error)),
    };
    let endpoint = Endpoint::from_shared(format!("{scheme}://{address}"))
        .map_err(unusable)?
        .tcp_keepalive(Some(TCP_KEEPALIVE))
        .buffer_size(WAITING_CALLS_MAX);
    let Transport::Tls(tls) = transport else {
        return Ok(endpoint);
    };
    let mut configuration = ClientTlsConfig::new();
    if let Some(client) = &tls.client {
        let (certificate, key) = (read(&client.certificate).await?, read(&client.key).await?);
        configuration = configuration.identity(Identity::from_pem(certificate, key));
    }
    let configured = match &tls.verification {
        Verification::Authorities(path) => {
            let authorities = Certificate::from_pem(read(path).await?);
            endpoint.tls_config(configuration.ca_certificate(authorities))
        }
        Verification::Skip => endpoint.tls_config_with_verifier(configuration, Arc::new(unverified::AnyServer::new())),
    };
    configured.map_err(|error| CallError::Certificates {
        address: address.to_string(),
        cause: causes(&error),
    })
}

/// Reads a file without blocking the runtime.
async fn read(path: &Path) -> Result<Vec<u8>, CallError> {
    let failure = |cause: String| CallError::File {
        path: path.to_owned(),
        cause,
    };
    let owned = path.to_owned();
    match tokio::task::spawn_blocking(move || std::fs::read(owned)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) => Err(failure(error.to_string())),
        Err(error) => Err(failure(error.to_string())),
    }
}

/// The check that an operator switched off.
mod unverified {
    use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
    use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
    use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
    use rustls::{DigitallySignedStruct, Error, SignatureScheme};

    /// Accepts every certificate. Signatures are still checked, so the peer holds the key of the certificate that it presents.
    #[derive(Debug)]
    pub(super) struct AnyServer(WebPkiSupportedAlgorithms);

    impl AnyServer {
        pub(super) fn new() -> Self {
            Self(rustls::crypto::ring::default_provider().signature_verification_algorithms)
        }
    }

    impl ServerCertVerifier for AnyServer {
        fn verify_server_cert(
            &self,
            _end_entity: &CertificateDer<'_>,
            _intermediates: &[CertificateDer<'_>],
            _server_name: &ServerName<'_>,
            _ocsp_response: &[u8],
            _now: UnixTime,
        ) -> Result<ServerCertVerified, Error> {
            Ok(ServerCertVerified::assertion())
        }

        fn verify_tls12_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signature: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            verify_tls12_signature(message, certificate, signature, &self.0)
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signature: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            verify_tls13_signature(message, certificate, signature, &self.0)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.0.supported_schemes()
        }
    }
}
