//! Client certificates that are rotated, against a server of TLS that the tests start.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, SanType};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

use super::tests::{ask, clients, replace, respond, write_kubeconfig_of};
use super::*;

/// A certificate and its key in PEM.
type Issued = (String, String);

/// An authority that signs the certificates of the server and of its clients.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut parameters = CertificateParams::default();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        Self(CertifiedIssuer::self_signed(parameters, key).expect("a certificate"))
    }

    fn issue(&self) -> Issued {
        let mut parameters = CertificateParams::default();
        parameters.subject_alt_names = vec![SanType::IpAddress("127.0.0.1".parse().expect("an address"))];
        let key = KeyPair::generate().expect("a key");
        let certificate = parameters.signed_by(&key, &self.0).expect("a certificate");
        (certificate.pem(), key.serialize_pem())
    }
}

fn read_certificate(pem: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem.as_bytes()).expect("a certificate")
}

/// A server that answers 401 to every client whose certificate is not the known one, as the API server does with an expired one. It
/// answers one request per connection.
struct Server {
    address: String,
    authority: Authority,
    known: Arc<Mutex<CertificateDer<'static>>>,
}

impl Server {
    fn start(authority: Authority, known: &Issued) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(read_certificate(&authority.0.pem())).expect("an authority");
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        let (certificate, key) = authority.issue();
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("a key");
        let configuration = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_client_cert_verifier(verifier.build().expect("a verifier"))
            .with_single_cert(vec![read_certificate(&certificate)], key)
            .expect("a certificate and its key");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let known = Arc::new(Mutex::new(read_certificate(&known.0)));
        let (allowed, configuration) = (Arc::clone(&known), Arc::new(configuration));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let connection = ServerConnection::new(Arc::clone(&configuration)).expect("a connection");
                answer(StreamOwned::new(connection, stream.expect("a stream")), &allowed);
            }
        });
        Self {
            address,
            authority,
            known,
        }
    }

    fn know(&self, issued: &Issued) {
        *self.known.lock().expect("no panic") = read_certificate(&issued.0);
    }

    fn write_kubeconfig(&self, file: &Path, user: Value) {
        let authority = STANDARD.encode(self.authority.0.pem());
        let server = format!("https://{}", self.address);
        let cluster = json!({"server": server, "certificate-authority-data": authority});
        write_kubeconfig_of(file, cluster, user);
    }
}

/// Reads a request and answers it. A client that gives up has no answer.
fn answer(mut stream: StreamOwned<ServerConnection, TcpStream>, known: &Mutex<CertificateDer<'static>>) {
    let mut request = Vec::new();
    let mut part = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut part) {
            Ok(length) if length > 0 => request.extend_from_slice(part.get(..length).unwrap_or_default()),
            _ => return,
        }
    }
    let shown = stream.conn.peer_certificates().and_then(<[_]>::first);
    let is_known = shown == Some(&*known.lock().expect("no panic"));
    respond(&mut stream, is_known);
    stream.conn.send_close_notify();
    let _closed = stream.flush();
}

fn embedded((certificate, key): &Issued) -> Value {
    json!({"client-certificate-data": STANDARD.encode(certificate), "client-key-data": STANDARD.encode(key)})
}

#[tokio::test]
async fn an_embedded_client_certificate_that_is_replaced_is_used_after_the_first_refusal() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("kubeconfig");
    let authority = Authority::new();
    let [first, second] = [authority.issue(), authority.issue()];
    let server = Server::start(authority, &first);
    server.write_kubeconfig(&file, embedded(&first));
    let clients = clients(&file).await;
    assert_eq!(ask(&clients.writing).await, "ok");
    server.write_kubeconfig(&file, embedded(&second));
    server.know(&second);
    for client in [&clients.writing, &clients.watching] {
        assert_eq!(ask(client).await, "ok");
    }
}

#[tokio::test]
async fn the_files_of_a_client_certificate_are_watched() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("kubeconfig");
    let authority = Authority::new();
    let [first, second] = [authority.issue(), authority.issue()];
    let server = Server::start(authority, &first);
    let write_files = |(certificate, key): &Issued| {
        replace(&folder.path().join("client.crt"), certificate);
        replace(&folder.path().join("client.key"), key);
    };
    write_files(&first);
    let user = json!({"client-certificate": "client.crt", "client-key": "client.key"});
    server.write_kubeconfig(&file, user);
    let clients = clients(&file).await;
    assert_eq!(ask(&clients.watching).await, "ok");
    // Half of a rotation: the key is not there yet. What is in use stays in use.
    replace(&folder.path().join("client.crt"), &second.0);
    tokio::time::sleep(LOOK_INTERVAL + Duration::from_millis(100)).await;
    assert_eq!(ask(&clients.watching).await, "ok");
    write_files(&second);
    server.know(&second);
    tokio::time::sleep(LOOK_INTERVAL + Duration::from_millis(100)).await;
    for client in [&clients.writing, &clients.watching] {
        assert_eq!(ask(client).await, "ok");
    }
}
