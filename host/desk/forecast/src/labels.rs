//! Label selectors as `kubectl -l` takes them: `app=web,tier in (gold, silver),!canary`.
//!
//! The syntax is that of `k8s.io/apimachinery/pkg/labels`: `key`, `!key`, `=`, `==`, `!=`, `in`, `notin`, `>` and `<`,
//! joined by commas. No crate was found that parses it; those for Kubernetes build selectors in code.

use std::fmt;
use std::str::FromStr;

use divvy_karmada::api::StringMap;

/// A query over labels. All requirements must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelQuery {
    text: String,
    requirements: Vec<Requirement>,
}

/// One requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Requirement {
    key: String,
    test: Test,
}

/// Condition on the value of a label.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Test {
    Exists,
    DoesNotExist,
    In(Vec<String>),
    /// Absent, or none of these.
    NotIn(Vec<String>),
    GreaterThan(i64),
    LessThan(i64),
}

/// A text that is not a label selector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a label selector: {reason}")]
pub struct InvalidLabelQuery {
    /// The text, as it was given.
    pub text: String,
    /// The problem.
    pub reason: String,
}

impl fmt::Display for LabelQuery {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl LabelQuery {
    /// True if an object with these labels matches.
    pub fn matches(&self, labels: &StringMap) -> bool {
        self.requirements.iter().all(|requirement| {
            let value = labels.get(&requirement.key);
            let number = || value.and_then(|value| value.parse::<i64>().ok());
            match &requirement.test {
                Test::Exists => value.is_some(),
                Test::DoesNotExist => value.is_none(),
                Test::In(values) => value.is_some_and(|value| values.contains(value)),
                Test::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
                Test::GreaterThan(bound) => number().is_some_and(|number| number > *bound),
                Test::LessThan(bound) => number().is_some_and(|number| number < *bound),
            }
        })
    }
}

impl FromStr for LabelQuery {
    type Err = InvalidLabelQuery;

    fn from_str(text: &str) -> Result<Self, InvalidLabelQuery> {
        let requirements = Parser { rest: text }.requirements();
        let requirements = requirements.map_err(|reason| InvalidLabelQuery {
            text: text.to_owned(),
            reason,
        })?;
        Ok(Self {
            text: text.to_owned(),
            requirements,
        })
    }
}

/// Characters that end a word.
const ENDS: [char; 8] = ['=', '!', '(', ')', ',', '>', '<', ' '];

struct Parser<'text> {
    rest: &'text str,
}

impl<'text> Parser<'text> {
    fn requirements(mut self) -> Result<Vec<Requirement>, String> {
        let mut requirements = Vec::new();
        loop {
            requirements.push(self.requirement()?);
            match self.next_is(",") {
                true => {}
                false if self.rest.is_empty() => return Ok(requirements),
                false => return Err(format!("expected `,` before `{}`", self.rest)),
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        if self.next_is("!") {
            let key = self.key()?;
            let test = Test::DoesNotExist;
            return Ok(Requirement { key, test });
        }
        let key = self.key()?;
        let test = if self.next_is("==") || self.next_is("=") {
            Test::In(vec![self.value()?])
        } else if self.next_is("!=") {
            Test::NotIn(vec![self.value()?])
        } else if self.next_is(">") {
            Test::GreaterThan(self.number()?)
        } else if self.next_is("<") {
            Test::LessThan(self.number()?)
        } else {
            match self.word() {
                "" => Test::Exists,
                "in" => Test::In(self.values()?),
                "notin" => Test::NotIn(self.values()?),
                other => {
                    return Err(format!(
                        "expected `=`, `!=`, `in` or `notin` after `{key}`, found `{other}`"
                    ));
                }
            }
        };
        Ok(Requirement { key, test })
    }

    /// Skips blanks, then a token if it is next.
    fn next_is(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn word(&mut self) -> &'text str {
        self.rest = self.rest.trim_start();
        let end = self.rest.find(ENDS).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// A qualified name: an optional DNS prefix, then at most 63 characters.
    fn key(&mut self) -> Result<String, String> {
        let key = self.word();
        let (prefix, name) = key
            .split_once('/')
            .map_or((None, key), |(prefix, name)| (Some(prefix), name));
        let is_prefix = |prefix: &str| {
            let is_letter =
                |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
            !prefix.is_empty() && prefix.len() <= 253 && prefix.bytes().all(is_letter)
        };
        match key {
            "" if self.rest.is_empty() => Err("expected the key of a label at the end".to_owned()),
            "" => Err(format!("expected the key of a label before `{}`", self.rest)),
            _ if name.is_empty() || !is_name(name) || !prefix.is_none_or(is_prefix) => {
                Err(format!("`{key}` is not the key of a label"))
            }
            _ => Ok(key.to_owned()),
        }
    }

    /// The value of a label, which may be empty.
    fn value(&mut self) -> Result<String, String> {
        let value = self.word();
        match is_name(value) {
            true => Ok(value.to_owned()),
            false => Err(format!("`{value}` is not the value of a label")),
        }
    }

    fn number(&mut self) -> Result<i64, String> {
        let word = self.word();
        word.parse()
            .map_err(|_| format!("expected a whole number, found `{word}`"))
    }

    fn values(&mut self) -> Result<Vec<String>, String> {
        if !self.next_is("(") {
            return Err("expected values in parentheses after `in` or `notin`".to_owned());
        }
        let mut values = Vec::new();
        loop {
            values.push(self.value()?);
            match self.next_is(",") {
                true => {}
                false if self.next_is(")") => return Ok(values),
                false => return Err("the parenthesis is not closed".to_owned()),
            }
        }
    }
}

/// True for an empty text, and for at most 63 letters, digits, `-`, `_` and `.` that begin and end with a letter or digit.
fn is_name(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let is_end = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    text.len() <= 63 && text.bytes().all(is_inner) && is_end(bytes.first()) && is_end(bytes.last())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels() -> StringMap {
        let labels = [("app", "web"), ("tier", "gold"), ("weight", "10"), ("empty", "")];
        labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into()
    }

    #[test]
    fn every_operator_has_kubernetes_meaning() {
        let cases = [
            ("app", true),
            ("other", false),
            ("!app", false),
            ("! other", true),
            ("app=web", true),
            ("app==web", true),
            ("app = web", true),
            ("app=api", false),
            ("app!=api", true),
            ("app!=web", false),
            // An absent label is not equal to anything.
            ("other!=web", true),
            ("other=web", false),
            ("app in (web,api)", true),
            ("app in(web)", true),
            ("app in ( api , db )", false),
            ("app notin (api, db)", true),
            ("app notin (web)", false),
            ("other notin (web)", true),
            ("weight>9", true),
            ("weight > 10", false),
            ("weight<11", true),
            ("weight<-1", false),
            ("app>1", false),
            ("other>1", false),
            ("empty=", true),
            ("app=", false),
            ("empty in (,x)", true),
            ("app=web,tier=gold", true),
            ("app=web, tier notin (gold)", false),
            ("app,!canary,tier in (gold, silver)", true),
            ("example.com/app", false),
            ("in", false),
        ];
        for (text, expected) in cases {
            let query: LabelQuery = text.parse().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(query.matches(&labels()), expected, "{text}");
            assert_eq!(query.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_selector_is_refused_with_the_reason() {
        let cases = [
            ("", "expected the key of a label at the end"),
            ("app=web,", "expected the key of a label at the end"),
            (",app", "expected the key of a label before `,app`"),
            ("=web", "expected the key of a label before `=web`"),
            ("app=a=b", "expected `,` before `=b`"),
            (
                "app web",
                "expected `=`, `!=`, `in` or `notin` after `app`, found `web`",
            ),
            ("app in web", "expected values in parentheses after `in` or `notin`"),
            ("app in (web", "the parenthesis is not closed"),
            ("app in (web db)", "the parenthesis is not closed"),
            ("app=-web", "`-web` is not the value of a label"),
            ("app=é", "`é` is not the value of a label"),
            ("-app=web", "`-app` is not the key of a label"),
            ("a/b/c=web", "`a/b/c` is not the key of a label"),
            ("/app", "`/app` is not the key of a label"),
            ("weight>ten", "expected a whole number, found `ten`"),
            ("app=web)", "expected `,` before `)`"),
        ];
        for (text, reason) in cases {
            let error = text.parse::<LabelQuery>().map_err(|error| error.reason);
            assert_eq!(error, Err(reason.to_owned()), "{text}");
        }
    }
}
