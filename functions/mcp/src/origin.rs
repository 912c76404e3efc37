//! Which web pages may call. A request without an `Origin` header does not come from a page of a browser and passes.

use axum::http::Uri;

/// An origin: scheme, host and port, as browsers compare them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    scheme: String,
    host: String,
    port: u16,
}

/// Reads an origin; `None` for anything else, the opaque origin `null` included.
pub(crate) fn parse(text: &str) -> Option<Origin> {
    let uri: Uri = text.parse().ok()?;
    let scheme = uri.scheme_str()?.to_ascii_lowercase();
    let authority = uri.authority().filter(|authority| !authority.as_str().contains('@'))?;
    if !matches!(uri.path(), "" | "/") || uri.query().is_some() || text.contains('#') {
        return None;
    }
    let port = match (authority.port(), scheme.as_str()) {
        (Some(port), _) => port.as_str().parse().ok()?,
        (None, "http") => 80,
        (None, "https") => 443,
        (None, _) => return None,
    };
    Some(Origin { scheme, host: authority.host().to_ascii_lowercase(), port })
}

/// The origins that may call.
#[derive(Debug)]
pub(crate) struct Allowed {
    listed: Vec<Origin>,
    loopback: bool,
}

impl Allowed {
    pub(crate) fn new(listed: &[String], loopback: bool) -> Self {
        Allowed { listed: listed.iter().filter_map(|text| parse(text)).collect(), loopback }
    }

    /// Whether a page of this origin may call.
    pub(crate) fn allows(&self, header: &str) -> bool {
        parse(header)
            .is_some_and(|origin| self.listed.contains(&origin) || (self.loopback && is_loopback(&origin.host)))
    }
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_origins_and_on_request_this_machine() {
        let listed = ["https://portal.example".to_owned(), "http://intra.example:8080".to_owned()];
        for (origin, plain, loopback) in [
            ("https://portal.example", true, true),
            ("https://PORTAL.example:443", true, true),
            ("http://portal.example", false, false),
            ("https://portal.example:444", false, false),
            ("https://portal.example.evil.example", false, false),
            ("https://evil.example/https://portal.example", false, false),
            ("https://portal.example@evil.example", false, false),
            ("http://intra.example:8080", true, true),
            ("http://intra.example", false, false),
            ("http://localhost:3000", false, true),
            ("http://127.0.0.1:6274", false, true),
            ("http://[::1]:6274", false, true),
            ("http://127.0.0.1.evil.example", false, false),
            ("null", false, false),
            ("", false, false),
        ] {
            assert_eq!(Allowed::new(&listed, false).allows(origin), plain, "{origin}");
            assert_eq!(Allowed::new(&listed, true).allows(origin), loopback, "{origin} with loopback");
        }
    }
}
