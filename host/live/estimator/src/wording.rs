//! Failures of connections to estimators in words. The texts of rustls show its structures (`Other(OtherError(UnsupportedCertVersion))`); here is
//! what is wrong with a certificate, and which option it concerns.

use std::error::Error;

use divvy_client::tls_error;
use rustls::CertificateError;

/// An error with its causes in one line, or the failure of TLS that it is due to. The transport's own message is only "transport error".
pub(crate) fn causes(error: &(dyn Error + 'static)) -> String {
    if let Some(error) = tls_error(error) {
        return tls_words(error);
    }
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let message = cause.to_string();
        if !text.ends_with(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
        source = cause.source();
    }
    // HTTP/2 keeps the text alone of an alert that arrives after the handshake.
    match text.rsplit_once("received fatal alert: ") {
        Some((_, alert)) => alert_words(alert),
        None => text,
    }
}

fn tls_words(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidCertificate(error) => {
            format!("the certificate of the estimator {}", certificate_words(error))
        }
        rustls::Error::AlertReceived(alert) => alert_words(&format!("{alert:?}")),
        rustls::Error::InvalidMessage(_) => "the estimator's answer is not TLS; does it serve without certificates?".to_owned(),
        rustls::Error::PeerIncompatible(_) => {
            "the estimator and this client share no version or algorithm of TLS; TLS 1.2 and 1.3 are supported, and no key on P-521".to_owned()
        }
        rustls::Error::PeerMisbehaved(_)
        | rustls::Error::InappropriateMessage { .. }
        | rustls::Error::InappropriateHandshakeMessage { .. } => "the estimator broke the protocol of TLS".to_owned(),
        rustls::Error::InconsistentKeys(_) => "the client's certificate belongs to another key".to_owned(),
        // The rest are texts without structures.
        error => format!("TLS failed: {error}"),
    }
}

/// The words of an alert with this name.
fn alert_words(alert: &str) -> String {
    let reason = match alert {
        "BadCertificate"
        | "UnsupportedCertificate"
        | "CertificateUnknown"
        | "CertificateExpired"
        | "CertificateRevoked"
        | "UnknownCA"
        | "DecryptError"
        | "AccessDenied" => "the estimator refuses the client's certificate",
        "CertificateRequired" => "the estimator demands a client's certificate, and none is configured",
        _ => "the estimator ended the handshake of TLS",
    };
    reason.to_owned()
}

/// What is wrong with a certificate; follows its name.
fn certificate_words(error: &CertificateError) -> &'static str {
    match error {
        CertificateError::BadEncoding => "is damaged or not X.509",
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "is not valid yet; compare the clocks of the two machines"
        }
        CertificateError::Revoked => "is revoked",
        CertificateError::UnknownIssuer => "is not signed by a configured authority",
        CertificateError::BadSignature => {
            "is signed with another key than that of the configured authority of this name, which may be an old one"
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "is for other names than the address of the estimator"
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => "is not for a server",
        _ => {
            "is not supported: X.509 of version 1 or 2, an authority's own, or an algorithm such as SHA-1 or ECDSA on P-521"
        }
    }
}
