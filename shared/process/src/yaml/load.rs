//! Parser events into a tree, with a stack of its own instead of recursion.
//!
//! Everything that YAML allows and a process file does not (merge keys, tags of one's own, a second document, a key
//! twice, a key that is not text) is reported where it stands and loading goes on; only broken YAML, nesting over the
//! limit and aliases over the limit end it.

use std::collections::HashMap;
use std::rc::Rc;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Tag};

use super::scalar::{self, Refused};
use super::{Data, Entry, Node, Size};
use crate::limits::{ALIAS_BYTES, ALIAS_NODES, DEPTH_LEVELS, RESERVED_KEY};
use crate::problem::{Path, Position, Report, shorten, visible};

/// The document in `text`, which begins on line `first_line` of the file. `None` when it could not be loaded to its
/// end; the report then says why.
pub(crate) fn load(text: &str, first_line: u32, report: &mut Report) -> Option<Node> {
    let mut loader = Loader {
        first_line,
        open: Vec::new(),
        anchors: HashMap::new(),
        alias_nodes: 0,
        alias_bytes: 0,
        documents: 0,
        root: None,
        report,
    };
    for event in Parser::new_from_str(text) {
        match event {
            Ok((event, span)) => {
                let at = loader.position(&span.start);
                if loader.event(event, at).is_err() {
                    return None;
                }
            }
            Err(error) => {
                let at = loader.position(error.marker());
                let what = format!("this is not valid YAML: {}{}", visible(error.info()), hint(error.info()));
                loader.report.error(at, &Path::Root, what);
                return None;
            }
        }
    }
    let empty = Node { at: Position { line: first_line, column: 1 }, data: Rc::new(Data::Null), size: Size::default() };
    Some(loader.root.take().unwrap_or(empty))
}

/// Loading cannot go on; the reason is in the report.
struct Stop;

/// A collection that is not closed yet.
struct Open {
    at: Position,
    anchor: usize,
    size: Size,
    content: Content,
    broken: bool,
}

enum Content {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, seen: HashMap<String, Position>, merged: Vec<Node>, key: Option<Key> },
}

/// A key that waits for its value.
struct Key {
    at: Position,
    /// `None` when the key was refused; its value is loaded and dropped.
    text: Option<String>,
    /// The key was a merge key: refused, and carried out all the same, so that nothing else seems to be missing.
    merge: bool,
}

struct Loader<'r> {
    first_line: u32,
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    alias_nodes: usize,
    alias_bytes: usize,
    documents: usize,
    root: Option<Node>,
    report: &'r mut Report,
}

impl Loader<'_> {
    fn position(&self, mark: &Marker) -> Position {
        let line = u32::try_from(mark.line()).unwrap_or(u32::MAX).max(1) - 1;
        let column = u32::try_from(mark.col()).unwrap_or(u32::MAX);
        Position { line: self.first_line.saturating_add(line), column: column.saturating_add(1) }
    }

    fn event(&mut self, event: Event<'_>, at: Position) -> Result<(), Stop> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    self.report.error(at, &Path::Root, "only one YAML document may stand here; remove the second one");
                    return Err(Stop);
                }
                Ok(())
            }
            Event::Alias(id) => self.alias(id, at),
            Event::Scalar(text, style, anchor, tag) => {
                if style == ScalarStyle::Plain && tag.is_none() && text == "<<" && self.merge_key(at) {
                    return Ok(());
                }
                let bytes = text.len();
                let data = self.scalar(&text, style, tag.as_deref(), at);
                let size = Size { nodes: 1, bytes, levels: 0 };
                self.complete(Node { at, data: Rc::new(data), size }, anchor);
                Ok(())
            }
            Event::SequenceStart(anchor, tag) => {
                let broken = self.collection_tag(tag.as_deref(), "seq", at);
                self.begin(at, anchor, Content::List(Vec::new()), broken)
            }
            Event::MappingStart(anchor, tag) => {
                let broken = self.collection_tag(tag.as_deref(), "map", at);
                let content = Content::Map { entries: Vec::new(), seen: HashMap::new(), merged: Vec::new(), key: None };
                self.begin(at, anchor, content, broken)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(open) = self.open.pop() {
                    let data = match open.content {
                        _ if open.broken => Data::Broken,
                        Content::List(list) => Data::List(list),
                        Content::Map { entries, seen, merged, .. } => Data::Map(merge(entries, seen, merged)),
                    };
                    let mut size = open.size;
                    size.nodes += 1;
                    size.levels += 1;
                    self.complete(Node { at: open.at, data: Rc::new(data), size }, open.anchor);
                }
                Ok(())
            }
        }
    }

    /// Takes a plain `<<` as a merge key if it stands where a key does.
    fn merge_key(&mut self, at: Position) -> bool {
        let Some(Open { content: Content::Map { key: key @ None, .. }, .. }) = self.open.last_mut() else {
            return false;
        };
        *key = Some(Key { at, text: None, merge: true });
        self.report.error(at, &Path::Root, "merge keys (`<<`) are not part of YAML 1.2; write the keys out");
        true
    }

    fn begin(&mut self, at: Position, anchor: usize, content: Content, broken: bool) -> Result<(), Stop> {
        self.room_for(1, at)?;
        self.open.push(Open { at, anchor, size: Size::default(), content, broken });
        Ok(())
    }

    /// Refuses what would lie too deep.
    fn room_for(&mut self, levels: usize, at: Position) -> Result<(), Stop> {
        if self.open.len() + levels > DEPTH_LEVELS {
            let what = format!("mappings and lists may be nested {DEPTH_LEVELS} levels deep; this goes deeper");
            self.report.error(at, &Path::Root, what);
            return Err(Stop);
        }
        Ok(())
    }

    fn alias(&mut self, id: usize, at: Position) -> Result<(), Stop> {
        let Some(target) = self.anchors.get(&id) else {
            self.report.error(at, &Path::Root, "an alias may not stand inside the value that it names");
            return Err(Stop);
        };
        let node = Node { at, data: Rc::clone(&target.data), size: target.size };
        self.room_for(node.size.levels, at)?;
        self.alias_nodes = self.alias_nodes.saturating_add(node.size.nodes);
        self.alias_bytes = self.alias_bytes.saturating_add(node.size.bytes);
        if self.alias_nodes > ALIAS_NODES || self.alias_bytes > ALIAS_BYTES {
            let what = format!(
                "aliases may stand for {ALIAS_NODES} values and {ALIAS_BYTES} bytes of text in all; \
                 this one goes beyond: write less with aliases"
            );
            self.report.error(at, &Path::Root, what);
            return Err(Stop);
        }
        self.complete(node, 0);
        Ok(())
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, tag: Option<&Tag>, at: Position) -> Data {
        let result = match tag.map(full_tag).as_deref() {
            None if style == ScalarStyle::Plain => scalar::plain(text),
            None | Some("!") => Ok(Data::Text(text.to_owned())),
            Some(tag) => match tag.strip_prefix(CORE).and_then(|suffix| scalar::tagged(suffix, text)) {
                Some(result) => result,
                None => {
                    self.unknown_tag(tag, at);
                    return Data::Broken;
                }
            },
        };
        result.unwrap_or_else(|why| {
            let text = shorten(text);
            let what = match why {
                Refused::NotJson => format!("`{text}` is not a number that JSON can carry; put text in quotes"),
                Refused::TooLarge => {
                    format!("`{text}` is beyond the range of a double; put it in quotes to make it text")
                }
                Refused::NotOfTag => format!("`{text}` is not what its tag says; remove the tag"),
            };
            self.report.error(at, &Path::Root, what);
            Data::Broken
        })
    }

    /// Whether the tag makes the collection unusable.
    fn collection_tag(&mut self, tag: Option<&Tag>, own: &str, at: Position) -> bool {
        let Some(tag) = tag.map(full_tag) else { return false };
        if tag == "!" || tag.strip_prefix(CORE) == Some(own) {
            return false;
        }
        self.unknown_tag(&tag, at);
        true
    }

    fn unknown_tag(&mut self, tag: &str, at: Position) {
        let tag = match tag.strip_prefix(CORE) {
            Some(suffix) => &format!("!!{suffix}"),
            None => tag,
        };
        let what = format!("the tag `{}` is not allowed here; remove it", shorten(tag));
        self.report.error(at, &Path::Root, what);
    }

    /// Puts a finished node where it belongs.
    fn complete(&mut self, node: Node, anchor: usize) {
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return;
        };
        open.size.nodes = open.size.nodes.saturating_add(node.size.nodes);
        open.size.bytes = open.size.bytes.saturating_add(node.size.bytes);
        open.size.levels = open.size.levels.max(node.size.levels);
        match &mut open.content {
            Content::List(list) => list.push(node),
            Content::Map { entries, seen, merged, key } => match key.take() {
                None => *key = Some(accept_key(node, seen, self.report)),
                Some(Key { at, text: Some(text), .. }) => entries.push(Entry { key: text, key_at: at, value: node }),
                Some(Key { merge: true, .. }) => merged.push(node),
                Some(_) => {}
            },
        }
    }
}

/// The entries with what the merge keys would add.
fn merge(mut entries: Vec<Entry>, mut seen: HashMap<String, Position>, merged: Vec<Node>) -> Vec<Entry> {
    for node in merged {
        let Data::Map(more) = &*node.data else { continue };
        for entry in more {
            if !seen.contains_key(&entry.key) {
                seen.insert(entry.key.clone(), entry.key_at);
                entries.push(entry.clone());
            }
        }
    }
    entries
}

fn accept_key(node: Node, seen: &mut HashMap<String, Position>, report: &mut Report) -> Key {
    let at = node.at;
    let refused = Key { at, text: None, merge: false };
    let text = match &*node.data {
        Data::Text(text) => text,
        Data::Broken => return refused,
        _ => {
            let what = format!("a key is text, and this is {}; put it in quotes", node.what());
            report.error(at, &Path::Root, what);
            return refused;
        }
    };
    if text.starts_with(RESERVED_KEY) {
        report.error(at, &Path::Root, format!("a key cannot begin with `{RESERVED_KEY}`; choose another name"));
        return refused;
    }
    if let Some(first) = seen.get(text) {
        let what = format!(
            "the key `{}` stands twice in this mapping, first at {}:{}; keep one",
            shorten(text),
            first.line,
            first.column
        );
        report.error(at, &Path::Root, what);
        return refused;
    }
    seen.insert(text.clone(), at);
    Key { at, text: Some(text.clone()), merge: false }
}

const CORE: &str = "tag:yaml.org,2002:";

fn full_tag(tag: &Tag) -> String {
    format!("{}{}", tag.handle, tag.suffix)
}

/// What usually lies behind a parser's message.
fn hint(info: &str) -> &'static str {
    if info.contains("tab ") || info.contains("tabs ") {
        "; indent with spaces"
    } else if info.contains("mapping values") {
        "; text that contains `: ` needs quotes, and the keys of one mapping begin in one column"
    } else if info.contains("expect ':'") || info.contains("simple key expected") {
        "; a key is followed by `:` and a space, and longer text is indented below its key"
    } else if info.contains("did not find expected key") || info.contains("expected '-' indicator") {
        "; line up the dashes of a list, and the keys of a mapping, each in one column"
    } else if info.contains("end of stream") || info.contains("eof") || info.contains("expected ','") {
        "; close every quote and bracket"
    } else if info.contains("in quoted scalar") {
        "; close the quote, or indent the lines that it goes on over"
    } else if info.contains("handle wasn't declared") {
        "; remove the tag"
    } else if info.contains("unknown anchor") {
        "; text that begins with `*` needs quotes"
    } else if info.contains("plain scalar") || info.contains("next token") || info.contains("unexpected character") {
        "; text that begins with a special character needs quotes"
    } else {
        ""
    }
}
