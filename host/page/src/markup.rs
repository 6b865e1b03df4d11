//! The page's markup. Only literals of this crate are written as they are; every other text is escaped.

use crate::render::{CHARTS, NOTICES, SCRIPT_END, SCRIPT_START, SCRIPTS, STYLE, SideText};
use crate::verdict::{Figure, Verdict};

/// The texts of a page.
pub(crate) struct Page<'a> {
    pub(crate) title: &'static str,
    pub(crate) verdict: &'a Verdict,
    pub(crate) command: String,
    pub(crate) version: &'a str,
    pub(crate) sides: Vec<SideText>,
    pub(crate) assumes: bool,
    pub(crate) is_headroom: bool,
    pub(crate) notes: &'a [String],
    pub(crate) omitted: Vec<String>,
    /// The Content Security Policy.
    pub(crate) policy: String,
    /// The data, packed as text without special characters.
    pub(crate) data: String,
}

/// Markup that is being written.
#[derive(Default)]
struct Markup(String);

impl Markup {
    /// Adds markup. It is part of this crate, so no text of a manifest gets in this way.
    fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Adds a text, inside an element or an attribute's quotes.
    fn text(&mut self, text: &str) -> &mut Self {
        for part in text.split_inclusive(['<', '>', '&', '"', '\'']) {
            let (plain, escaped) = match part.char_indices().next_back() {
                Some((end, '<')) => (&part[..end], "&#60;"),
                Some((end, '>')) => (&part[..end], "&#62;"),
                Some((end, '&')) => (&part[..end], "&#38;"),
                Some((end, '"')) => (&part[..end], "&#34;"),
                Some((end, '\'')) => (&part[..end], "&#39;"),
                _ => (part, ""),
            };
            self.0.push_str(plain);
            self.0.push_str(escaped);
        }
        self
    }
}

/// Writes the whole file.
pub(crate) fn page(page: &Page<'_>) -> String {
    let mut html = Markup::default();
    head(page, &mut html);
    html.raw("<body>\n<a class=\"skip\" href=\"#clusters\">Skip to the charts</a>\n");
    header(page, &mut html);
    html.raw("<main>\n");
    command(page, &mut html);
    html.raw("<p class=\"status\" id=\"status\" role=\"status\">Unpacking the data…</p>\n")
        .raw("<noscript><p class=\"status\">The charts and tables need JavaScript, which runs from this file alone. ")
        .raw("The verdict above does not.</p></noscript>\n")
        .raw("<div id=\"sections\"></div>\n</main>\n<footer>\n<p>Made by divvy ")
        .text(page.version)
        .raw(". This file loads nothing from any network. Charts: Apache ECharts, ")
        .raw("© 2017–2026 The Apache Software Foundation, Apache License 2.0.</p>\n</footer>\n");
    scripts(page, &mut html);
    html.raw("</body>\n</html>\n");
    html.0
}

fn head(page: &Page<'_>, html: &mut Markup) {
    html.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
        .raw("<meta http-equiv=\"Content-Security-Policy\" content=\"")
        .text(&page.policy)
        .raw("\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
        .raw("<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"divvy ")
        .text(page.version)
        .raw("\">\n<title>")
        .text(&page.verdict.headline)
        .raw(" ")
        .text(page.title)
        .raw(" · Divvy</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>")
        .raw(STYLE)
        .raw("</style>\n</head>\n");
}

fn header(page: &Page<'_>, html: &mut Markup) {
    let Verdict {
        headline,
        more,
        tone,
        figures,
    } = page.verdict;
    html.raw("<header>\n<p class=\"over\"><span class=\"mark\" aria-hidden=\"true\"></span>Divvy ")
        .raw("<span class=\"sep\" aria-hidden=\"true\">/</span> ")
        .text(page.title)
        .raw("</p>\n<h1 class=\"")
        .raw(tone.class())
        .raw("\"><span class=\"tone\">")
        .raw(tone.word())
        .raw("<span class=\"hidden\">:</span></span> ")
        .text(headline)
        .raw("</h1>\n<p class=\"lead\">")
        .text(more)
        .raw("</p>\n<dl class=\"figures of-")
        .text(&figures.len().to_string())
        .raw("\">\n");
    for figure in figures {
        self::figure(figure, html);
    }
    html.raw("</dl>\n</header>\n");
}

fn figure(figure: &Figure, html: &mut Markup) {
    html.raw("<div class=\"figure ")
        .raw(figure.tone.class())
        .raw("\">\n<dt>")
        .raw(figure.label)
        .raw("</dt>\n<dd data-figure=\"")
        .raw(figure.name)
        .raw("\">")
        .text(&figure.value)
        .raw("</dd>\n");
    if !figure.detail.is_empty() {
        html.raw("<dd class=\"detail\">").text(&figure.detail).raw("</dd>\n");
    }
    html.raw("</div>\n");
}

/// The command with its profiles, the notes, and what is left out.
fn command(page: &Page<'_>, html: &mut Markup) {
    html.raw("<section id=\"command\" aria-labelledby=\"command-title\">\n")
        .raw("<h2 id=\"command-title\">Command and profiles</h2>\n<pre tabindex=\"0\" aria-label=\"Command\"><code>")
        .text(&page.command)
        .raw("</code></pre>\n<dl class=\"facts\">\n");
    for side in &page.sides {
        html.raw("<div><dt>")
            .raw(side.label)
            .raw("</dt><dd>profile <b>")
            .text(&side.profile)
            .raw("</b>");
        if !side.strategy.is_empty() {
            html.raw(", strategy <b>").text(&side.strategy).raw("</b>");
        }
        if !side.changes.is_empty() {
            html.raw(" with <code>").text(&side.changes).raw("</code>");
        }
        html.raw("</dd></div>\n");
    }
    let capacity = match (page.is_headroom, page.assumes) {
        (true, true) => "each workload grows alone, beside everything that is decided",
        (true, false) => "each workload grows alone",
        (false, true) => "each result takes its room from those after it",
        (false, false) => "each binding decided on its own",
    };
    html.raw("<div><dt>Capacity</dt><dd>")
        .raw(capacity)
        .raw("</dd></div>\n<div><dt>Version</dt><dd>divvy ")
        .text(page.version)
        .raw("</dd></div>\n</dl>\n");
    if !page.notes.is_empty() {
        html.raw("<h3>Notes</h3>\n<ul class=\"notes\">\n");
        items(page.notes, html);
    }
    if !page.omitted.is_empty() {
        html.raw("<h3>Left out of this page</h3>\n<ul class=\"notes\" id=\"omitted\">\n");
        items(&page.omitted, html);
    }
    html.raw("</section>\n");
}

fn items(texts: &[String], html: &mut Markup) {
    for text in texts {
        html.raw("<li>").text(text).raw("</li>\n");
    }
    html.raw("</ul>\n");
}

/// The data, the notices, the charts and the page's own script.
fn scripts(page: &Page<'_>, html: &mut Markup) {
    html.raw("<script type=\"application/octet-stream\" id=\"data\">")
        .text(&page.data)
        .raw("</script>\n<script type=\"text/plain\" id=\"notices\">");
    for (number, notice) in NOTICES.into_iter().enumerate() {
        html.raw(if number == 0 { "" } else { "\n\n" }).raw(notice);
    }
    html.raw("</script>\n<script type=\"text/plain\" id=\"charts\">")
        .raw(CHARTS)
        .raw("</script>\n<script>")
        .raw(SCRIPT_START);
    for script in SCRIPTS {
        html.raw(script);
    }
    html.raw(SCRIPT_END).raw("</script>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_that_means_something_in_markup_is_escaped() {
        let cases = [
            ("", ""),
            ("plain – text", "plain – text"),
            (
                "<b a=\"1\" b='2'>&amp;",
                "&#60;b a=&#34;1&#34; b=&#39;2&#39;&#62;&#38;amp;",
            ),
            ("ends with <", "ends with &#60;"),
            ("&&é", "&#38;&#38;é"),
        ];
        for (text, expected) in cases {
            let mut html = Markup::default();
            html.text(text);
            assert_eq!(html.0, expected, "{text}");
        }
    }
}
