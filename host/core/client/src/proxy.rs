//! The proxy on the way to an API server, by the rules of kubectl.
//!
//! `proxy-url` of the kubeconfig is used as it is. Without it, `HTTPS_PROXY` is used, unless `NO_PROXY` names the server, with the rules of
//! Go's `httpproxy` (golang.org/x/net/http/httpproxy, `config.go`). kube looks for the proxy itself in `NO_PROXY`, and hyper-util has curl's
//! rules, which know no ports and would use a proxy for the loopback interface.

use std::net::IpAddr;

use http::Uri;
use ipnet::IpNet;

/// The value of a variable of the environment.
pub(super) type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A variable of the environment with a proxy that cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnusableProxy {
    pub(super) variable: &'static str,
    pub(super) problem: String,
}

/// The proxy that the environment names for a server.
pub(super) fn from_environment(server: &Uri, environment: Environment<'_>) -> Result<Option<Uri>, UnusableProxy> {
    let variables = match server.scheme_str() {
        Some("http") => ["HTTP_PROXY", "http_proxy"],
        _ => ["HTTPS_PROXY", "https_proxy"],
    };
    let Some((variable, value)) = first(variables, environment) else {
        return Ok(None);
    };
    let exceptions = first(["NO_PROXY", "no_proxy"], environment).map_or_else(String::new, |(_, value)| value);
    if is_exempt(server, &exceptions) {
        return Ok(None);
    }
    // A proxy without a scheme is one for HTTP.
    let value = match value.contains("://") {
        true => value,
        false => format!("http://{value}"),
    };
    parse(&value)
        .map(Some)
        .map_err(|problem| UnusableProxy { variable, problem })
}

/// The first variable that is set and not empty.
fn first(variables: [&'static str; 2], environment: Environment<'_>) -> Option<(&'static str, String)> {
    variables.into_iter().find_map(|variable| {
        let value = environment(variable)?.trim().to_owned();
        (!value.is_empty()).then_some((variable, value))
    })
}

/// Reads the URL of a proxy. A message does not repeat the URL, which may have a password.
pub(super) fn parse(url: &str) -> Result<Uri, String> {
    let uri: Uri = url.trim().parse().map_err(|error| format!("is not a URL: {error}"))?;
    match uri.scheme_str() {
        Some("http" | "https") => {}
        Some("socks5") => {
            if uri
                .authority()
                .is_some_and(|authority| authority.as_str().contains('@'))
            {
                return Err("has a user for a `socks5` proxy, which is not supported".to_owned());
            }
        }
        Some(scheme) => {
            return Err(format!(
                "has the scheme `{scheme}`, expected `http`, `https` or `socks5`"
            ));
        }
        None => return Err("has no scheme, expected `http`, `https` or `socks5`".to_owned()),
    }
    match uri.host() {
        Some(host) if !host.is_empty() => Ok(uri),
        _ => Err("has no host".to_owned()),
    }
}

/// True if a server is reached without the proxy of the environment: on this machine, or named in `exceptions`, the value of `NO_PROXY`.
fn is_exempt(server: &Uri, exceptions: &str) -> bool {
    let host = server.host().unwrap_or_default().to_lowercase();
    let host = unbracketed(&host);
    let port = server.port_u16().unwrap_or(match server.scheme_str() {
        Some("http") => 80,
        _ => 443,
    });
    let address: Option<IpAddr> = host.parse().ok();
    if host == "localhost" || address.is_some_and(|address| address.to_canonical().is_loopback()) {
        return true;
    }
    let exceptions = exceptions.to_lowercase();
    exceptions.split(',').map(str::trim).any(|exception| {
        if exception == "*" {
            return true;
        }
        if let Ok(network) = exception.parse::<IpNet>() {
            return address.is_some_and(|address| network.contains(&address));
        }
        let (name, its_port) = split_port(exception);
        if its_port.is_some_and(|its_port| its_port != port) || name.is_empty() {
            return false;
        }
        match name.parse::<IpAddr>() {
            Ok(exempt) => address == Some(exempt),
            Err(_) => is_in_domain(host, name),
        }
    })
}

/// True for a host in a domain: `example.com` has the host of this name, too, `.example.com` and `*.example.com` have not.
fn is_in_domain(host: &str, domain: &str) -> bool {
    let domain = domain
        .strip_prefix('*')
        .filter(|rest| rest.starts_with('.'))
        .unwrap_or(domain);
    match domain.strip_prefix('.') {
        Some(_) => host.ends_with(domain),
        None => host
            .strip_suffix(domain)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.')),
    }
}

/// Host and port. An address of version 6 has a port only in brackets.
fn split_port(exception: &str) -> (&str, Option<u16>) {
    if exception.parse::<IpAddr>().is_ok() {
        return (exception, None);
    }
    match exception.rsplit_once(':') {
        Some((name, port)) if port.parse::<u16>().is_ok() => (unbracketed(name), port.parse().ok()),
        _ => (unbracketed(exception), None),
    }
}

fn unbracketed(host: &str) -> &str {
    let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    inner.unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The proxy for a server, or the problem, under variables of the environment.
    fn proxy(server: &str, variables: &[(&str, &str)]) -> String {
        let environment = |name: &str| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        match from_environment(&server.parse().expect("a URL"), &environment) {
            Ok(Some(uri)) => uri.to_string(),
            Ok(None) => "none".to_owned(),
            Err(UnusableProxy { variable, problem }) => format!("{variable} {problem}"),
        }
    }

    #[test]
    fn the_environment_names_the_proxy() {
        let server = "https://api.example.com:6443";
        for (variables, expected) in [
            (&[][..], "none"),
            (&[("HTTPS_PROXY", "http://p:3128")], "http://p:3128/"),
            (&[("https_proxy", "http://p:3128")], "http://p:3128/"),
            (
                &[("HTTPS_PROXY", ""), ("https_proxy", "http://p:3128")],
                "http://p:3128/",
            ),
            (
                &[("HTTPS_PROXY", "http://a:1"), ("https_proxy", "http://b:2")],
                "http://a:1/",
            ),
            (&[("HTTPS_PROXY", "p:3128")], "http://p:3128/"),
            (
                &[("HTTPS_PROXY", "http://me:secret@p:3128")],
                "http://me:secret@p:3128/",
            ),
            (&[("HTTPS_PROXY", "socks5://p:1080")], "socks5://p:1080"),
            (&[("HTTP_PROXY", "http://p:3128")], "none"),
            (
                &[("HTTPS_PROXY", "ftp://me:secret@p")],
                "HTTPS_PROXY has the scheme `ftp`, expected `http`, `https` or `socks5`",
            ),
            (
                &[("HTTPS_PROXY", "socks5://me:secret@p:1080")],
                "HTTPS_PROXY has a user for a `socks5` proxy, which is not supported",
            ),
            (
                &[("https_proxy", "http://a b")],
                "https_proxy is not a URL: invalid uri character",
            ),
        ] {
            assert_eq!(
                proxy(server, variables).trim_end_matches('/'),
                expected.trim_end_matches('/'),
                "{variables:?}"
            );
        }
        assert_eq!(
            proxy("http://api.example.com", &[("http_proxy", "http://p:3128")]),
            "http://p:3128/"
        );
    }

    #[test]
    fn no_proxy_has_the_rules_of_go() {
        let table = [
            // This machine never has a proxy.
            ("https://localhost:6443", "", true),
            ("https://127.0.0.1:6443", "", true),
            ("https://127.9.9.9", "", true),
            ("https://[::1]:6443", "", true),
            ("https://[::ffff:127.0.0.1]", "", true),
            ("https://localhost.example.com", "", false),
            ("https://api.example.com", "*", true),
            // Networks and addresses.
            ("https://10.1.2.3:6443", "10.0.0.0/8", true),
            ("https://11.1.2.3:6443", "10.0.0.0/8", false),
            ("https://10.1.2.3:6443", "10.1.2.3", true),
            ("https://10.1.2.3:6443", "10.1.2.3:6443", true),
            ("https://10.1.2.3:6443", "10.1.2.3:443", false),
            ("https://[fd00::1]:6443", "fd00::/8", true),
            ("https://[fd00::1]:6443", "fd00::1", true),
            ("https://[fd00::1]:6443", "[fd00::1]:6443", true),
            ("https://[fd00::1]:6443", "[fd00::1]:1", false),
            // Domains.
            ("https://api.example.com", "example.com", true),
            ("https://example.com", "example.com", true),
            ("https://EXAMPLE.com", "Example.Com", true),
            ("https://notexample.com", "example.com", false),
            ("https://api.example.com", ".example.com", true),
            ("https://example.com", ".example.com", false),
            ("https://api.example.com", "*.example.com", true),
            ("https://example.com", "*.example.com", false),
            ("https://api.example.com:6443", "example.com:6443", true),
            ("https://api.example.com", "example.com:443", true),
            ("https://api.example.com:6443", "example.com:443", false),
            // Lists, with what says nothing.
            ("https://api.example.com", "other.org, ,:80, api.example.com ", true),
            ("https://api.example.com", "other.org,,", false),
        ];
        for (server, exceptions, expected) in table {
            let variables = [("HTTPS_PROXY", "http://p:3128"), ("NO_PROXY", exceptions)];
            assert_eq!(
                proxy(server, &variables) == "none",
                expected,
                "{server}, NO_PROXY={exceptions}"
            );
            let variables = [("https_proxy", "http://p:3128"), ("no_proxy", exceptions)];
            assert_eq!(
                proxy(server, &variables) == "none",
                expected,
                "{server}, no_proxy={exceptions}"
            );
        }
    }
}
