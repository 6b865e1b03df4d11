//! TLS: a trusted authority, an unknown one, a client certificate, and no verification.

use std::path::PathBuf;

use divvy_estimator::{ClientCertificate, EstimatorOptions, Estimators, Tls, Transport, Verification};
use rcgen::{CertificateParams, CertifiedIssuer, KeyPair};
use tempfile::TempDir;
use tonic::transport::{Certificate, Identity, ServerTlsConfig};

use super::server::{Behaviour, Estimator, Services};
use super::{options, replicas, words};

/// An authority with the certificates that it signed, in files.
struct Authority {
    folder: TempDir,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        let issuer = CertifiedIssuer::self_signed(params, key).expect("a certificate");
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("ca.crt"), issuer.pem()).expect("a file");
        Self { folder, issuer }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("ca.crt")
    }

    /// Certificate and key of a name or an address.
    fn issue(&self, name: &str) -> (String, String) {
        let params = CertificateParams::new(vec![name.to_owned()]).expect("parameters");
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        (certificate.pem(), key.serialize_pem())
    }

    fn server(&self, name: &str) -> ServerTlsConfig {
        let (certificate, key) = self.issue(name);
        ServerTlsConfig::new().identity(Identity::from_pem(certificate, key))
    }

    fn client(&self) -> ClientCertificate {
        let (certificate, key) = self.issue("divvy");
        let files = ClientCertificate {
            certificate: self.folder.path().join("client.crt"),
            key: self.folder.path().join("client.key"),
        };
        std::fs::write(&files.certificate, certificate).expect("a file");
        std::fs::write(&files.key, key).expect("a file");
        files
    }
}

/// Asks a TLS server and returns the answer, or the error.
async fn answer(server: &Estimator, transport: Transport) -> String {
    let options = EstimatorOptions {
        transport,
        deadline: std::time::Duration::from_secs(5),
        ..options()
    };
    let estimators = Estimators::new(options, Services::new([("m1", server.port)]));
    let found = words(&estimators, ["m1"], &replicas("1")).await.concat();
    let error = estimators.states()[0].error.clone();
    error.map_or_else(|| format!("the count is {found}"), |error| error.to_string())
}

fn tls(verification: Verification, client: Option<ClientCertificate>) -> Transport {
    Transport::Tls(Tls { verification, client })
}

#[tokio::test]
async fn certificates_are_verified_unless_an_operator_says_otherwise() {
    let (authority, stranger) = (Authority::new("own"), Authority::new("foreign"));
    let own = Verification::Authorities(authority.file());
    let foreign = Verification::Authorities(stranger.file());
    let server = Estimator::start_with_tls(Behaviour::Count(7), authority.server("127.0.0.1")).await;
    let misnamed = Estimator::start_with_tls(Behaviour::Count(7), authority.server("elsewhere")).await;
    for (name, server, verification, expected) in [
        ("a trusted authority", &server, &own, "the count is 7"),
        (
            "an unknown authority",
            &server,
            &foreign,
            "the certificate of the estimator is not signed by a configured authority",
        ),
        (
            "another name",
            &misnamed,
            &own,
            "the certificate of the estimator is for other names than the address",
        ),
        ("no verification", &misnamed, &Verification::Skip, "the count is 7"),
    ] {
        let found = answer(server, tls(verification.clone(), None)).await;
        assert!(found.contains(expected), "{name}: {found}");
    }
}

#[tokio::test]
async fn a_client_certificate_is_presented_where_estimators_require_one() {
    let authority = Authority::new("own");
    let required = authority
        .server("127.0.0.1")
        .client_ca_root(Certificate::from_pem(authority.issuer.pem()));
    let server = Estimator::start_with_tls(Behaviour::Count(7), required).await;
    let own = Verification::Authorities(authority.file());

    let with = answer(&server, tls(own.clone(), Some(authority.client()))).await;
    assert_eq!(with, "the count is 7");
    let without = answer(&server, tls(own, None)).await;
    // The server refuses after the client's handshake, so the error comes with the connection or with the first call.
    assert!(
        without.starts_with("cannot connect") || without.starts_with("the estimator failed"),
        "{without}"
    );
    // The alert may be lost with the connection.
    assert!(!without.contains("CertificateRequired"), "{without}");
}

#[tokio::test]
async fn a_missing_or_unreadable_file_is_named() {
    let authority = Authority::new("own");
    let server = Estimator::start_with_tls(Behaviour::Count(7), authority.server("127.0.0.1")).await;
    let missing = authority.folder.path().join("missing.crt");
    let found = answer(&server, tls(Verification::Authorities(missing.clone()), None)).await;
    assert!(
        found.starts_with(&format!("cannot read `{}`: ", missing.display())),
        "{found}"
    );

    let client = authority.client();
    std::fs::write(&client.key, "not a key").expect("a file");
    let found = answer(&server, tls(Verification::Authorities(authority.file()), Some(client))).await;
    assert!(
        found.starts_with("cannot use the certificates for the estimator at "),
        "{found}"
    );
}

#[tokio::test]
async fn plaintext_does_not_reach_an_estimator_with_tls() {
    let authority = Authority::new("own");
    let server = Estimator::start_with_tls(Behaviour::Count(7), authority.server("127.0.0.1")).await;
    let found = answer(&server, Transport::Plaintext).await;
    assert!(
        found.starts_with("cannot connect") || found.starts_with("the estimator failed"),
        "{found}"
    );
}
