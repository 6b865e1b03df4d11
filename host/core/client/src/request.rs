//! A request to a scheduler's server, for the command line.
//!
//! One request over HTTP/1.0, whose response ends with the connection, which needs no client library.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Maximum number of bytes that are read of a response. Explanations are far smaller.
const RESPONSE_MAX: u64 = 64 << 20;

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

/// Gets a path from the server at `address`. Each step has the time `deadline`.
///
/// # Errors
///
/// An I/O error if the server cannot be reached, is too slow, or does not speak HTTP.
pub fn get(address: SocketAddr, path: &str, deadline: Duration) -> io::Result<Response> {
    send(address, &format!("GET {path}"), path, None, deadline)
}

/// Posts JSON to a path of the server at `address`. Each step has the time `deadline`.
///
/// # Errors
///
/// The same as those of [`get`].
pub fn post(address: SocketAddr, path: &str, json: &str, deadline: Duration) -> io::Result<Response> {
    send(address, &format!("POST {path}"), path, Some(json), deadline)
}

fn send(
    address: SocketAddr,
    request: &str,
    path: &str,
    json: Option<&str>,
    deadline: Duration,
) -> io::Result<Response> {
    let mut stream = TcpStream::connect_timeout(&address, deadline)?;
    stream.set_read_timeout(Some(deadline))?;
    stream.set_write_timeout(Some(deadline))?;
    // A path with a space or a line break would be another request.
    if path.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("`{path}` is not a path"),
        ));
    }
    let content = json.map_or_else(String::new, |json| {
        format!("Content-Type: application/json\r\nContent-Length: {}\r\n", json.len())
    });
    let body = json.unwrap_or_default();
    write!(
        stream,
        "{request} HTTP/1.0\r\nHost: {address}\r\nConnection: close\r\n{content}\r\n{body}"
    )?;
    let mut text = Vec::new();
    stream.take(RESPONSE_MAX).read_to_end(&mut text)?;
    parse(&text).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the answer is not HTTP"))
}

fn parse(text: &[u8]) -> Option<Response> {
    const END: &[u8] = b"\r\n\r\n";
    let end = text.windows(END.len()).position(|window| window == END)?;
    let head = std::str::from_utf8(text.get(..end)?).ok()?;
    let status = head.strip_prefix("HTTP/1.")?.split(' ').nth(1)?.parse().ok()?;
    Some(Response {
        status,
        body: text.get(end + END.len()..)?.to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_has_a_status_and_a_body() {
        let parsed = parse(b"HTTP/1.1 404 Not Found\r\ncontent-length: 5\r\n\r\nabc\r\n").unwrap();
        assert_eq!((parsed.status, parsed.body.as_slice()), (404, b"abc\r\n".as_slice()));
        for wrong in [
            b"".as_slice(),
            b"HTTP/1.1 200 OK\r\n",
            b"SSH-2.0\r\n\r\n",
            b"HTTP/1.1 x\r\n\r\n",
        ] {
            assert_eq!(parse(wrong), None);
        }
    }
}
