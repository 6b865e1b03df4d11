//! Globs: `*` for any characters, `?` for one of them.

/// True if a text matches a pattern whose `*` and `?` do not match `/`, so that the namespace and the name match the parts of the
/// pattern one by one.
pub fn matches_parts(pattern: &str, text: &str) -> bool {
    matches_within(pattern, text, Some('/'))
}

/// True if a text matches a pattern.
pub fn matches(pattern: &str, text: &str) -> bool {
    matches_within(pattern, text, None)
}

/// True if a text matches a pattern whose wildcards do not match `separator`. Takes time proportional to at most the product of both
/// lengths.
fn matches_within(pattern: &str, text: &str, separator: Option<char>) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut read) = (0, 0);
    // Positions from which to continue if the text after the last `*` does not match: one character later.
    let mut retry: Option<(usize, usize)> = None;
    while read < text.len() {
        match pattern.get(at) {
            Some('*') => {
                retry = Some((at + 1, read));
                at += 1;
                continue;
            }
            Some('?') if Some(text[read]) != separator => {
                at += 1;
                read += 1;
                continue;
            }
            Some(character) if *character == text[read] => {
                at += 1;
                read += 1;
                continue;
            }
            _ => {}
        }
        match retry {
            Some((after, from)) if Some(text[from]) != separator => {
                retry = Some((after, from + 1));
                at = after;
                read = from + 1;
            }
            _ => return false,
        }
    }
    pattern[at..].iter().all(|character| *character == '*')
}

#[cfg(test)]
mod tests {
    use super::{matches, matches_parts};

    #[test]
    fn stars_and_question_marks_match_within_one_part() {
        let cases = [
            ("eu-1", "eu-1", true),
            ("eu-1", "eu-10", false),
            ("eu-*", "eu-1", true),
            ("eu-*", "eu-", true),
            ("eu-*", "us-1", false),
            ("*", "anything", true),
            ("*", "", true),
            ("", "", true),
            ("", "x", false),
            ("?u-1", "eu-1", true),
            ("?", "", false),
            ("*-*-1", "eu-west-1", true),
            ("*-*-1", "eu-1", false),
            ("a*b*c", "aXbXbYc", true),
            ("a*b*c", "aXbXbY", false),
            ("*", "shop/web", false),
            ("*/*", "shop/web", true),
            ("shop/*", "shop/web", true),
            ("s?op/*", "shop/web", true),
            ("sho?web", "sho/web", false),
            ("*eb", "shop/web", false),
            ("é*", "été", true),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(matches_parts(pattern, text), expected, "{pattern} {text}");
            if !text.contains('/') {
                assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
            }
        }
    }

    #[test]
    fn a_name_with_a_slash_is_matched_as_a_whole() {
        for (pattern, expected) in [
            ("*", true),
            ("e*1", true),
            ("eu?1", true),
            ("eu/1", true),
            ("e?1", false),
        ] {
            assert_eq!(matches(pattern, "eu/1"), expected, "{pattern}");
        }
    }
}
