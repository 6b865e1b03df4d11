//! Credentials as `docker login`, `podman login` and `oras login` write them.

use std::fmt;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use divvy_loader::artifact::read_bounded;
use serde_json::Value;

use crate::error::ArtifactsError;

const FILE_BYTES_MAX: u64 = 1 << 20;

/// A user and a password, or a token that is exchanged for one of the registry's.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Credentials {
    /// `user:password` in base64, as in the header.
    Basic(String),
    /// A refresh token.
    Identity(String),
}

/// Messages and logs must not have them.
impl fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Basic(_) => "Basic(…)",
            Self::Identity(_) => "Identity(…)",
        })
    }
}

impl Credentials {
    /// The credentials for a host in the first file that has some; `None` if none has. Files that do not exist are skipped.
    pub(super) fn find(host: &str, files: &[PathBuf]) -> Result<Option<Self>, ArtifactsError> {
        for path in files {
            let file = match std::fs::File::open(path) {
                Ok(file) => file,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(source) => {
                    return Err(ArtifactsError::File {
                        path: path.clone(),
                        source,
                    });
                }
            };
            let text = read_bounded(&format!("`{}`", path.display()), file, FILE_BYTES_MAX)?;
            if let Some(found) = Self::read(host, path, &text)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn read(host: &str, path: &Path, text: &[u8]) -> Result<Option<Self>, ArtifactsError> {
        let unusable = |message: &str| ArtifactsError::Credentials {
            host: host.to_owned(),
            path: path.to_owned(),
            message: message.to_owned(),
        };
        let file: Value = serde_json::from_slice(text).map_err(|_| unusable("the file is not JSON"))?;
        let helper = file.get("credHelpers").and_then(|helpers| helpers.get(host));
        if helper.is_some() {
            return Err(unusable(
                "they are kept by a credential helper, which is not run; write them into a file of their own, and name its folder by DOCKER_CONFIG",
            ));
        }
        let entry = |key: &str| file.get("auths").and_then(|auths| auths.get(key));
        // Older files have the whole address.
        let forms = [
            host.to_owned(),
            format!("https://{host}"),
            format!("https://{host}/v2/"),
            format!("http://{host}"),
        ];
        let Some(entry) = forms.iter().find_map(|form| entry(form)) else {
            return Ok(None);
        };
        let field = |name: &str| entry.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        if let Some(token) = field("identitytoken") {
            return Ok(Some(Self::Identity(token.to_owned())));
        }
        if let Some(written) = field("auth") {
            let decoded = STANDARD.decode(written).map_err(|_| unusable("`auth` is not base64"))?;
            return match decoded.contains(&b':') {
                true => Ok(Some(Self::Basic(STANDARD.encode(decoded)))),
                false => Err(unusable("`auth` is not `user:password` in base64")),
            };
        }
        match (field("username"), field("password")) {
            (Some(user), Some(password)) => Ok(Some(Self::Basic(STANDARD.encode(format!("{user}:{password}"))))),
            // Where a store keeps them, the file has an empty entry.
            _ if file.get("credsStore").is_some() => Err(unusable(
                "they are kept by a credential store, which is not run; write them into a file of their own, and name its folder by DOCKER_CONFIG",
            )),
            _ => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<Credentials>, String> {
        let read = Credentials::read("r.example:5000", Path::new("config.json"), text.as_bytes());
        read.map_err(|error| error.to_string())
    }

    #[test]
    fn credentials_are_those_of_the_host() {
        let basic = Ok(Some(Credentials::Basic("dTpw".to_owned())));
        for (text, expected) in [
            (r#"{"auths":{"r.example:5000":{"auth":"dTpw"}}}"#, basic.clone()),
            (
                r#"{"auths":{"https://r.example:5000":{"username":"u","password":"p"}}}"#,
                basic,
            ),
            (r#"{"auths":{"r.example":{"auth":"dTpw"}}}"#, Ok(None)),
            (r#"{"auths":{"r.example:5000":{}}}"#, Ok(None)),
            ("{}", Ok(None)),
            (
                r#"{"auths":{"r.example:5000":{"identitytoken":"t","auth":"dTpw"}}}"#,
                Ok(Some(Credentials::Identity("t".to_owned()))),
            ),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        for (text, message) in [
            ("[", "the file is not JSON"),
            (
                r#"{"auths":{"r.example:5000":{"auth":"dQ=="}}}"#,
                "`auth` is not `user:password`",
            ),
            (r#"{"credHelpers":{"r.example:5000":"x"}}"#, "credential helper"),
            (
                r#"{"credsStore":"x","auths":{"r.example:5000":{}}}"#,
                "credential store",
            ),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn messages_do_not_have_them() {
        let basic = Credentials::Basic("dTpw".to_owned());
        assert_eq!(format!("{basic:?}"), "Basic(…)");
    }
}
