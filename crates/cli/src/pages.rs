//! The pages of diagnostic codes, from `docs/codes`.

use allways_base::CodeInfo;

include!(concat!(env!("OUT_DIR"), "/pages.rs"));

pub fn page(code: &str) -> Option<&'static str> {
    let at = PAGES.binary_search_by_key(&code, |&(name, _)| name).ok()?;
    Some(PAGES[at].1)
}

/// Every code with its one line, by name.
pub fn codes() -> Vec<CodeInfo> {
    let mut all = allways_p::codes::ALL.to_vec();
    all.extend_from_slice(allways_boogie::codes::ALL);
    all.sort_by_key(|info| info.code);
    all
}
