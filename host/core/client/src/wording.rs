//! Failures of requests in words.
//!
//! The texts of kube and rustls show their structures (`Status { code: 401, … }`, `Other(OtherError(UnsupportedCertVersion))`). Here are
//! the API server's own words, and for certificates what is wrong with them.

use std::error::Error;
use std::io;
use std::time::Duration;

use kube::core::Status;
use rustls::{AlertDescription, CertificateError};

/// A failed request in words: those of the API server if it has answered.
pub fn worded(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) => refusal(status),
        // The wrapper says nothing.
        kube::Error::Service(error) => connection_words(&**error),
        kube::Error::HyperError(error) => connection_words(error),
        error => connection_words(error),
    }
}

fn refusal(status: &Status) -> String {
    match (status.message.trim(), status.reason.trim()) {
        ("", "") => format!("the API server answered {}", status.code),
        ("", reason) => format!("the API server answered {} ({reason})", status.code),
        (message, _) => message.to_owned(),
    }
}

/// The time that the API server asks to wait before the next attempt.
pub fn asked_wait(status: &Status) -> Option<Duration> {
    let seconds = status.details.as_ref().map_or(0, |details| details.retry_after_seconds);
    (seconds > 0).then(|| Duration::from_secs(seconds.into()))
}

/// An error with its causes, each once.
fn connection_words(error: &(dyn Error + 'static)) -> String {
    if let Some(error) = tls_error(error) {
        return tls_words(error);
    }
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let own = error.to_string();
        if !text.contains(&own) {
            text = format!("{text}: {own}");
        }
        cause = error.source();
    }
    text
}

/// The failure of TLS that an error is due to, among its causes.
pub fn tls_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<rustls::Error>() {
            return Some(error);
        }
        // Its inner error is not its source.
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = match inner {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}

fn tls_words(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidCertificate(error) => format!("the certificate of the API server {}", certificate_words(error)),
        rustls::Error::AlertReceived(alert) => alert_words(*alert),
        rustls::Error::PeerIncompatible(_) => {
            "the API server and this client share no version or algorithm of TLS; TLS 1.2 and 1.3 are supported, and no key on P-521"
                .to_owned()
        }
        rustls::Error::InvalidMessage(_) => "the API server's answer is not TLS; does `server` begin with `http://`?".to_owned(),
        rustls::Error::PeerMisbehaved(_)
        | rustls::Error::InappropriateMessage { .. }
        | rustls::Error::InappropriateHandshakeMessage { .. } => "the API server broke the protocol of TLS".to_owned(),
        rustls::Error::InconsistentKeys(_) => "the client's certificate belongs to another key".to_owned(),
        // The rest are texts without structures.
        error => format!("TLS failed: {error}"),
    }
}

fn alert_words(alert: AlertDescription) -> String {
    let reason = match alert {
        AlertDescription::HandshakeFailure => {
            "the API server ended the handshake of TLS: it shares no algorithm with this client, which supports no key on P-521"
        }
        AlertDescription::BadCertificate
        | AlertDescription::UnsupportedCertificate
        | AlertDescription::CertificateUnknown
        | AlertDescription::UnknownCA
        | AlertDescription::DecryptError
        | AlertDescription::AccessDenied => "the API server refuses the client's certificate",
        AlertDescription::CertificateExpired => "the API server refuses the client's certificate: it has expired",
        AlertDescription::CertificateRevoked => "the API server refuses the client's certificate: it is revoked",
        AlertDescription::CertificateRequired => "the API server demands a client's certificate, and the user has none",
        AlertDescription::UnrecognisedName => {
            "the API server does not know the name by which it is called; see `tls-server-name`"
        }
        AlertDescription::ProtocolVersion => "the API server supports neither TLS 1.2 nor TLS 1.3",
        alert => return format!("the API server ended the handshake of TLS (alert {})", u8::from(alert)),
    };
    reason.to_owned()
}

/// What is wrong with a certificate; follows its name.
#[expect(deprecated, reason = "one of the variants that webpki still makes")]
pub(super) fn certificate_words(error: &CertificateError) -> String {
    let words = match error {
        CertificateError::BadEncoding => "is damaged or not X.509",
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "is not valid yet; compare the clocks of the two machines"
        }
        CertificateError::Revoked => "is revoked",
        CertificateError::UnknownIssuer => {
            "is not signed by an authority in `certificate-authority` of the kubeconfig; a server's own certificate is not an authority"
        }
        CertificateError::BadSignature => {
            "is signed with another key than that of the authority of this name in `certificate-authority`, which may be an old one"
        }
        CertificateError::UnsupportedSignatureAlgorithm
        | CertificateError::UnsupportedSignatureAlgorithmContext { .. }
        | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            "is signed by an algorithm that is not supported, such as SHA-1 or ECDSA on P-521"
        }
        CertificateError::NotValidForName => "is for other names; see `tls-server-name`",
        CertificateError::NotValidForNameContext { expected, presented } => {
            let names = match presented.as_slice() {
                [] => "no name at all".to_owned(),
                names => names.iter().map(|name| plain_name(name)).collect::<Vec<_>>().join(", "),
            };
            let expected = expected.to_str();
            return format!(
                "is not for `{expected}` but for {names}; `tls-server-name` in the kubeconfig names another"
            );
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "is for another purpose: its extended key usage does not include this one"
        }
        CertificateError::UnhandledCriticalExtension => "has a critical extension that is not supported",
        CertificateError::Other(other) => match other.to_string() {
            text if text.contains("UnsupportedCertVersion") => {
                "is of X.509 version 1 or 2, which is not supported; issue one of version 3"
            }
            text if text.contains("CaUsedAsEndEntity") => {
                "is that of an authority (CA:TRUE), which must not be a server's own; issue one for the server"
            }
            _ => "cannot be verified",
        },
        _ => "cannot be verified",
    };
    words.to_owned()
}

/// A name without its kind: webpki presents `DnsName("kubernetes")` and `IpAddress(10.0.0.1)`.
fn plain_name(presented: &str) -> &str {
    let inner = presented.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    inner.unwrap_or(presented).trim_matches('"')
}
