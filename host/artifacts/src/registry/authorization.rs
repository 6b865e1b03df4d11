//! What a registry asks for before it answers: basic credentials, or a token that another address hands out for them.

use divvy_loader::artifact::read_bounded;
use serde_json::Value;
use ureq::http::header::WWW_AUTHENTICATE;

use super::credentials::Credentials;
use super::request::{Answer, Client, Request};
use crate::error::ArtifactsError;

const TOKEN_BYTES_MAX: u64 = 64 << 10;

/// What is done with a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Pull,
    Push,
}

impl Scope {
    fn actions(self) -> &'static str {
        match self {
            Self::Pull => "pull",
            Self::Push => "pull,push",
        }
    }

    /// True if what was granted for this scope suffices for another.
    pub(super) fn covers(self, other: Self) -> bool {
        self == other || self == Self::Push
    }
}

/// The header that answers the demand of a registry; `None` if there is nothing to answer with.
pub(super) fn value(
    client: &Client,
    answer: &Answer,
    repository: &str,
    scope: Scope,
    credentials: Option<&Credentials>,
) -> Result<Option<String>, ArtifactsError> {
    let Some(demand) = answer.header(WWW_AUTHENTICATE.as_str()) else {
        return Ok(None);
    };
    let basic = match credentials {
        Some(Credentials::Basic(basic)) => Some(format!("Basic {basic}")),
        _ => None,
    };
    let (scheme, parameters) = demand.split_once(' ').unwrap_or((demand, ""));
    if scheme.eq_ignore_ascii_case("basic") {
        return Ok(basic);
    }
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(ArtifactsError::Protocol {
            url: answer.url().to_owned(),
            message: format!("the registry asks for credentials of an unknown kind: `{scheme}`"),
        });
    }
    let Some(realm) = parameter(parameters, "realm") else {
        return Err(ArtifactsError::Protocol {
            url: answer.url().to_owned(),
            message: "the registry asks for a token and does not say where it is handed out".to_owned(),
        });
    };
    let separator = if realm.contains('?') { '&' } else { '?' };
    let wanted = encoded(&format!("repository:{repository}:{}", scope.actions()));
    let mut url = format!("{realm}{separator}scope={wanted}");
    if let Some(service) = parameter(parameters, "service") {
        url.push_str(&format!("&service={}", encoded(service)));
    }
    let answer = match credentials {
        Some(Credentials::Identity(token)) => {
            let service = parameter(parameters, "service").unwrap_or_default();
            let form = format!(
                "grant_type=refresh_token&client_id=divvy&scope={wanted}&service={}&refresh_token={}",
                encoded(service),
                encoded(token)
            );
            client.follow(&Request::form(realm, form.as_bytes()), None)?
        }
        _ => client.follow(&Request::get(&url), basic.as_deref())?,
    };
    let (address, answer) = (answer.url().to_owned(), answer.successful()?);
    let text = read_bounded("the token", answer.into_body(), TOKEN_BYTES_MAX)?;
    let text: Value = serde_json::from_slice(&text).unwrap_or_default();
    let token = ["token", "access_token"]
        .iter()
        .find_map(|field| text.get(field)?.as_str());
    // A line break would begin another header.
    let token = token.filter(|token| token.bytes().all(|byte| byte.is_ascii_graphic()));
    match token {
        Some(token) => Ok(Some(format!("Bearer {token}"))),
        None => Err(ArtifactsError::Protocol {
            url: address,
            message: "the answer has no token".to_owned(),
        }),
    }
}

/// A parameter of a demand: `realm="https://auth.example/token",service="registry"`.
fn parameter<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = text;
    while let Some((key, after)) = rest.split_once('=') {
        let key = key.trim_start_matches([',', ' ']).trim();
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => after.split_once(',').unwrap_or((after, "")),
        };
        if key.eq_ignore_ascii_case(name) {
            return Some(value);
        }
        rest = after;
    }
    None
}

/// A text as part of an address.
fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(char::from(byte)),
            other => encoded.push_str(&format!("%{other:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_found_in_any_order() {
        let text = r#"realm="https://auth.example/token?a=b,c",service=registry, scope="repository:a/b:pull,push""#;
        assert_eq!(parameter(text, "realm"), Some("https://auth.example/token?a=b,c"));
        assert_eq!(parameter(text, "service"), Some("registry"));
        assert_eq!(parameter(text, "SCOPE"), Some("repository:a/b:pull,push"));
        assert_eq!(parameter(text, "error"), None);
        assert_eq!(parameter("realm=\"open", "realm"), None);
        assert_eq!(parameter("", "realm"), None);
    }

    #[test]
    fn texts_of_addresses_are_encoded() {
        assert_eq!(encoded("repository:a/b:pull"), "repository%3Aa%2Fb%3Apull");
        assert_eq!(encoded("a&b=ü\n"), "a%26b%3D%C3%BC%0A");
    }
}
