//! Text in a picture: how wide it will be, where it breaks, how it is escaped. Widths are estimates for a wide sans-serif
//! face, so that narrower ones fit as well.

/// The width of the text in pixels at a font size in pixels.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(em).sum::<f64>() * size
}

fn em(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '\'' | '|' | '.' | ',' | ':' | ';' | ' ' | '!' => 0.34,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '/' | 'I' | '"' => 0.44,
        'm' | 'M' | 'W' | '@' | '%' => 0.98,
        'w' | 'O' | 'Q' | 'G' | 'D' | 'N' | 'H' | 'U' => 0.82,
        'A'..='Z' => 0.72,
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{fe00}'..='\u{fe0f}' => 0.0,
        '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{ffef}' => 1.05,
        _ if c as u32 >= 0x1_0000 => 1.4,
        _ => 0.64,
    }
}

/// Breaks the text into at most `most` lines of at most `room` pixels; what does not fit ends in an ellipsis.
pub(super) fn wrap(text: &str, size: f64, room: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut used = 0.0;
    let mut cut = false;
    // No line needs more text than this, so a long text costs no more than a short one.
    let limit = most.saturating_mul(200);
    'text: for word in text.split_whitespace().take(limit) {
        let long = width(word, size);
        let space = if line.is_empty() { 0.0 } else { em(' ') * size };
        if used + space + long <= room {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
            used += space + long;
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
            used = 0.0;
            if lines.len() >= most {
                cut = true;
                break;
            }
        }
        for c in word.chars() {
            let wide = em(c) * size;
            if used + wide > room && !line.is_empty() {
                lines.push(std::mem::take(&mut line));
                used = 0.0;
                if lines.len() >= most {
                    cut = true;
                    break 'text;
                }
            }
            line.push(c);
            used += wide;
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    if cut && let Some(last) = lines.last_mut() {
        while !last.is_empty() && width(last, size) + em('…') * size > room {
            last.pop();
        }
        last.truncate(last.trim_end().len());
        last.push('…');
    }
    lines
}

/// Text for XML content and attributes; characters that XML cannot carry are left out.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\r' | '\t' => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => {}
            _ if c.is_control() => {}
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_and_what_is_left_out_shows() {
        assert_eq!(wrap("one two three", 10.0, 1_000.0, 2), ["one two three"]);
        assert_eq!(wrap("  ", 10.0, 100.0, 2), Vec::<String>::new());
        for text in ["one two three four five six seven", &"x".repeat(500), "ä€😀 漢字 mixed WIDE", &"漢".repeat(90)]
        {
            for most in 1..4 {
                let lines = wrap(text, 12.0, 80.0, most);
                assert!(lines.len() <= most);
                assert!(lines.iter().all(|l| width(l, 12.0) <= 80.0 && !l.is_empty()), "{lines:?}");
                let whole: String = lines.concat().split_whitespace().collect();
                let all: String = text.split_whitespace().collect();
                assert_eq!(whole == all, !whole.ends_with('…'), "{lines:?}");
            }
        }
    }

    #[test]
    fn what_xml_cannot_carry_is_left_out() {
        assert_eq!(escape("<a b=\"c\">&'\n\0\u{1b}\u{ffff}ä"), "&lt;a b=&quot;c&quot;&gt;&amp;&#39; ä");
    }
}
