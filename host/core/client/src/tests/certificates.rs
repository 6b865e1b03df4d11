//! Certificates that are not supported, and those of servers that a client does not trust.
//!
//! `p521.pem` and `version1.pem` were made by OpenSSL, because rcgen with ring makes neither: `openssl genpkey -algorithm EC -pkeyopt
//! ec_paramgen_curve:secp521r1`, then `openssl req -x509`; and `openssl x509 -req -signkey` without extensions, which is version 1.

use std::net::TcpListener;
use std::sync::Arc;

use http::Request as HttpRequest;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, SanType};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::*;

const P521: (&str, &str) = (include_str!("p521.pem"), include_str!("p521.key.pem"));
const VERSION_1: (&str, &str) = (include_str!("version1.pem"), include_str!("version1.key.pem"));

/// Parameters of a certificate for the loopback interface.
fn parameters() -> CertificateParams {
    let mut parameters = CertificateParams::default();
    parameters.subject_alt_names = vec![SanType::IpAddress("127.0.0.1".parse().expect("an address"))];
    parameters
}

fn self_signed(parameters: &CertificateParams) -> (String, String) {
    let key = KeyPair::generate().expect("a key");
    let certificate = parameters.self_signed(&key).expect("a certificate");
    (certificate.pem(), key.serialize_pem())
}

#[tokio::test]
async fn a_clients_certificate_that_is_not_supported_is_named_with_the_reason() {
    let folder = Folder::new();
    let (own, key) = self_signed(&parameters());
    let (_, other_key) = self_signed(&parameters());
    let server = json!({"server": "https://127.0.0.1:1"});
    let curve = "is a key on the curve P-521, which is not supported; one on P-256 or P-384, RSA and Ed25519 are";
    for (certificate, key, expected) in [
        (own.as_str(), key.as_str(), "none".to_owned()),
        (&own.replace('\n', "\r\n"), &key, "none".to_owned()),
        (P521.0, P521.1, format!("`client-key` of the user `u` {curve}")),
        (
            VERSION_1.0,
            VERSION_1.1,
            "`client-certificate` of the user `u` is of X.509 version 1 or 2, which is not supported; issue one of version 3"
                .to_owned(),
        ),
        (&own, &other_key, "`client-key` of the user `u` belongs to another certificate".to_owned()),
        (&own, &own, "`client-key` of the user `u` holds no private key in PEM".to_owned()),
        (
            &key,
            &key,
            "`client-certificate` of the user `u` holds no certificate in PEM (`-----BEGIN CERTIFICATE-----`)".to_owned(),
        ),
        (
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            &key,
            "`client-certificate` of the user `u` is damaged or not X.509".to_owned(),
        ),
    ] {
        folder.write("client.crt", certificate);
        folder.write("client.key", key);
        let files = json!({"client-certificate": "client.crt", "client-key": "client.key"});
        assert_eq!(complaint(&folder, kubeconfig(server.clone(), files).to_string()).await, expected);
        let data = json!({
            "client-certificate-data": STANDARD.encode(certificate),
            "client-key-data": STANDARD.encode(key),
        });
        let expected = expected.replace("client-certificate`", "client-certificate-data`");
        let expected = expected.replace("client-key`", "client-key-data`");
        assert_eq!(complaint(&folder, kubeconfig(server.clone(), data).to_string()).await, expected);
    }
}

/// A server of TLS with a certificate. It ends each connection after the handshake.
fn serve(certificate: &str, key: &str) -> String {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificate.as_bytes()).collect();
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("a key");
    let configuration = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain.expect("certificates"), key)
        .expect("a certificate and its key");
    let configuration = Arc::new(configuration);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut session = rustls::ServerConnection::new(Arc::clone(&configuration)).expect("a session");
            let _refused = session.complete_io(&mut stream);
        }
    });
    format!("https://{address}")
}

/// The failure of a request to a server, under an authority.
async fn failure(server: &str, authority: &str) -> String {
    let folder = Folder::new();
    let cluster = json!({"server": server, "certificate-authority-data": STANDARD.encode(authority)});
    let file = folder.write("config", kubeconfig(cluster, json!({})).to_string());
    let clients = connected(&file, None).await.expect("a valid kubeconfig");
    let request = HttpRequest::get("/").body(Vec::new()).expect("a request");
    let error = clients
        .writing
        .request_text(request)
        .await
        .expect_err("the server has no HTTP");
    worded(&error)
}

#[tokio::test]
async fn a_servers_certificate_that_is_refused_is_reported_in_words() {
    let beginning = "the certificate of the API server ";
    let (own, key) = self_signed(&parameters());
    let mut elsewhere = parameters();
    elsewhere
        .distinguished_name
        .push(DnType::CommonName, "another authority");
    let (stranger, _) = self_signed(&elsewhere);
    let text = failure(&serve(&own, &key), &stranger).await;
    assert!(
        text.starts_with(&format!(
            "{beginning}is not signed by an authority in `certificate-authority`"
        )),
        "{text}"
    );

    // An authority that was made anew under the same name.
    let (renewed, _) = self_signed(&parameters());
    let text = failure(&serve(&own, &key), &renewed).await;
    assert!(
        text.starts_with(&format!("{beginning}is signed with another key")),
        "{text}"
    );

    let mut authority = parameters();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let (own, key) = self_signed(&authority);
    let text = failure(&serve(&own, &key), &own).await;
    assert!(
        text.starts_with(&format!("{beginning}is that of an authority (CA:TRUE)")),
        "{text}"
    );

    let issuer = CertifiedIssuer::self_signed(authority, KeyPair::generate().expect("a key")).expect("an issuer");
    let mut elsewhere = CertificateParams::default();
    elsewhere.subject_alt_names = vec![SanType::DnsName("karmada.example.com".try_into().expect("a name"))];
    let mut past = parameters();
    past.not_after = rcgen::date_time_ymd(2000, 1, 1);
    for (parameters, expected) in [
        (past, "has expired".to_owned()),
        (
            elsewhere,
            "is not for `127.0.0.1` but for karmada.example.com; `tls-server-name` in the kubeconfig names another"
                .to_owned(),
        ),
    ] {
        let key = KeyPair::generate().expect("a key");
        let certificate = parameters.signed_by(&key, &issuer).expect("a certificate").pem();
        let text = failure(&serve(&certificate, &key.serialize_pem()), &issuer.pem()).await;
        assert_eq!(text, format!("{beginning}{expected}"));
    }
}

/// Debug output of foreign types has brackets and the names of their variants.
#[test]
fn no_word_is_a_rust_structure() {
    use rustls::{AlertDescription, CertificateError, Error};
    let certificates = [
        CertificateError::BadEncoding,
        CertificateError::UnknownIssuer,
        CertificateError::UnhandledCriticalExtension,
        CertificateError::Other(rustls::OtherError(Arc::new(std::fmt::Error))),
    ];
    let alerts = (0..=255).map(AlertDescription::from).map(Error::AlertReceived);
    for error in certificates.map(Error::InvalidCertificate).into_iter().chain(alerts) {
        let text = worded(&kube::Error::Service(Box::new(std::io::Error::other(error))));
        assert!(
            !text.contains("Other(") && !text.contains("Error") && !text.contains("Unknown("),
            "{text}"
        );
    }
    let status = kube::core::Status {
        code: 401,
        message: "Unauthorized".to_owned(),
        ..Default::default()
    };
    assert_eq!(worded(&kube::Error::Api(Box::new(status.clone()))), "Unauthorized");
    let silent = kube::core::Status {
        message: String::new(),
        ..status
    };
    assert_eq!(
        worded(&kube::Error::Api(Box::new(silent))),
        "the API server answered 401"
    );
}
