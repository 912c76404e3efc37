//! Skill bindings (section-provider): which Provider, Graph and entry a `SKILL.md` is bound to.

use std::path::Path;

use graph::Failure;
use graph::documents::SkillBinding;

/// The resolved binding of a Skill.
///
/// # Errors
///
/// The `skill-…`, `registry-invalid` and `provider-…` codes, and those of loading the Provider.
pub fn resolve(skill: &Path, registry: Option<&Path>) -> Result<SkillBinding, Failure> {
    let _ = (skill, registry);
    Err(Failure::new("unexpected-error", "Skill bindings are not there yet"))
}
