//! `agent-graph code list`.

use clap::Args;

use crate::call::{Done, Global};

/// Lists the codes of the Provider's catalog.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-graph code list
  agent-graph --format json code list | jq '.codes[].code'

Exit codes: 0 listed, be it none; 1 the Provider does not hold together, and why.")]
pub struct CodeList {}

impl CodeList {
    /// Lists them.
    pub fn run(self, global: &Global) -> Done {
        let opened = global.open(None)?;
        global.tell(&graph::code_list(&opened.provider, &opened.places), |paint| {
            let codes = opened.provider.catalog.iter().flat_map(|catalog| &catalog.value.codes);
            let lines: Vec<_> = codes.map(|code| format!("{}  {}", paint.title(&code.code), code.summary)).collect();
            match lines.is_empty() {
                true => vec![format!("Provider {} has no codes", opened.provider.id())],
                false => lines,
            }
        })
    }
}
