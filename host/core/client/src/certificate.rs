//! Certificates and keys of a kubeconfig, checked before a connection is made, so that a message can name their field.
//!
//! TLS is rustls with ring, which needs no C compiler. It knows no key on the curve P-521 and no certificate of X.509 version 1; aws-lc-rs
//! would know the curve, and needs cmake.

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{InconsistentKeys, RootCertStore};

use super::wording::certificate_words;

/// The object identifier 1.3.132.0.35, secp521r1, in DER.
const P521: [u8; 7] = [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23];

/// Reason why a client's certificate or its key cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unusable {
    Certificate(String),
    Key(String),
}

/// The certificates of authorities in PEM, in DER.
pub(super) fn authorities(pem: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let certificates = certificates(pem)?;
    let mut store = RootCertStore::empty();
    for (index, certificate) in certificates.iter().enumerate() {
        store.add(certificate.clone()).map_err(|error| {
            let number = index + 1;
            match error {
                rustls::Error::InvalidCertificate(error) => {
                    format!("has as certificate {number} one that {}", certificate_words(&error))
                }
                _ => format!("has as certificate {number} one that cannot be read"),
            }
        })?;
    }
    Ok(certificates
        .into_iter()
        .map(|certificate| certificate.to_vec())
        .collect())
}

/// Checks a client's certificate and its key, both in PEM.
pub(super) fn check_identity(certificate: &[u8], key: &[u8]) -> Result<(), Unusable> {
    let chain = certificates(certificate).map_err(Unusable::Certificate)?;
    let read = PrivateKeyDer::from_pem_slice(key).map_err(|_| {
        let is_encrypted = key.windows(9).any(|part| part == b"ENCRYPTED");
        Unusable::Key(match is_encrypted {
            true => "is encrypted; decrypt it with `openssl pkey`".to_owned(),
            false => "holds no private key in PEM".to_owned(),
        })
    })?;
    let is_p521 = read.secret_der().windows(P521.len()).any(|part| part == P521);
    let provider = rustls::crypto::ring::default_provider();
    let signing = provider.key_provider.load_private_key(read).map_err(|_| {
        Unusable::Key(match is_p521 {
            true => "is a key on the curve P-521, which is not supported; one on P-256 or P-384, RSA and Ed25519 are"
                .to_owned(),
            false => {
                "is no key that is supported: RSA of 2048 bits or more, ECDSA on P-256 or P-384, or Ed25519".to_owned()
            }
        })
    })?;
    match CertifiedKey::new(chain, signing).keys_match() {
        Ok(()) | Err(rustls::Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(()),
        Err(rustls::Error::InconsistentKeys(_)) => Err(Unusable::Key("belongs to another certificate".to_owned())),
        Err(rustls::Error::InvalidCertificate(error)) => Err(Unusable::Certificate(certificate_words(&error))),
        Err(_) => Err(Unusable::Certificate("cannot be read".to_owned())),
    }
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match certificates {
        Ok(certificates) if certificates.is_empty() => {
            Err("holds no certificate in PEM (`-----BEGIN CERTIFICATE-----`)".to_owned())
        }
        Ok(certificates) => Ok(certificates),
        Err(_) => Err("holds a certificate in PEM that is cut off or damaged".to_owned()),
    }
}
