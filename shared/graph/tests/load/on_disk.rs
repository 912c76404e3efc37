//! Providers in a folder: what symbolic links do, and the bindings of Skills.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use graph::disk::{Disk, bind};
use graph::{Failure, Provider, Source, load};
use tempfile::TempDir;

use crate::small::Small;

/// The small Provider in a folder `provider`, with an empty folder `outside` beside it.
struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        fs::create_dir(folder.path("outside")).unwrap();
        for (path, text) in Small::new().0 {
            folder.write(&format!("provider/{path}"), &text);
        }
        folder
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Moves a file or folder, and leaves a link to where it went.
    fn moved(self, from: &str, to: &str) -> Folder {
        fs::rename(self.path(from), self.path(to)).unwrap();
        symlink(self.path(to), self.path(from)).unwrap();
        self
    }

    fn load(&self) -> Result<Provider, Failure> {
        let (disk, manifest) = Disk::of(&self.path("provider/provider.yaml"))?;
        load(&disk, &manifest)
    }

    fn refused(&self, code: &str, place: &str) {
        let failure = self.load().unwrap_err();
        assert_eq!(failure.code, code, "{failure:?}");
        assert!(failure.message.contains(place), "{failure:?}");
    }
}

#[test]
fn what_cannot_be_opened_is_told_as_what_it_is() {
    let folder = Folder::new();
    symlink("loop", folder.path("loop")).unwrap();
    for (path, code, said) in [
        ("nowhere/provider.yaml", "file-missing", "there is no file"),
        ("provider/provider.yaml/more", "file-missing", "there is no file"),
        ("provider", "file-missing", "is a folder; name the file in it"),
        ("loop", "file-read-failed", "cannot read"),
        ("loop/provider.yaml", "file-read-failed", "cannot read"),
    ] {
        let failure = Disk::of(&folder.path(path)).unwrap_err();
        assert!(failure.code == code && failure.message.contains(said), "{path}: {failure:?}");
    }
    let failure = bind(&folder.path("provider"), None).unwrap_err();
    assert!(failure.message.contains("is a folder; name the file in it"), "{failure:?}");
}

#[test]
fn a_folder_is_the_same_provider_as_its_files_in_memory() {
    let folder = Folder::new();
    let (disk, manifest) = Disk::of(&folder.path("provider/provider.yaml")).unwrap();
    let (on_disk, in_memory) = (load(&disk, &manifest).unwrap(), Small::new().load().unwrap());
    assert_eq!(on_disk.files, in_memory.files);
    assert_eq!(on_disk.closures, in_memory.closures);
    assert_eq!(disk.list("").unwrap(), Small::new().source().list("").unwrap());
    assert_eq!(disk.list("skills").unwrap(), Small::new().source().list("skills").unwrap());
    assert_eq!(disk.list("none").unwrap(), Vec::<String>::new());
    assert_eq!(disk.read("none.md").unwrap(), None);
    assert_eq!(disk.read("graphs").unwrap(), None);
    assert_eq!(disk.read("graphs/main.yaml/x").unwrap(), None);
    assert_eq!(disk.read("a\0b").unwrap(), None);
    assert_eq!(disk.read(&"x".repeat(100_000)).unwrap(), None);
    let real = fs::canonicalize(folder.path("provider")).unwrap().to_str().unwrap().to_owned();
    assert!(disk.roots().contains(&real), "{:?}", disk.roots());
}

#[test]
fn a_manifest_that_is_not_there() {
    let folder = Folder::new();
    for path in ["provider/none.yaml", "none/provider.yaml", "provider", "provider/graphs/..", ""] {
        assert_eq!(Disk::of(&folder.path(path)).unwrap_err().code, "file-missing", "{path}");
    }
}

#[test]
fn links_that_lead_out_are_refused_wherever_they_are() {
    let code = "path-symlink-outside-provider";
    let moved = |from: &str, to: &str| Folder::new().moved(from, to);
    // At the end of a path.
    moved("provider/actions/run.yaml", "outside/run.yaml").refused(code, "graphs/child.yaml#/nodes/0/action");
    moved("provider/graphs/child.yaml", "outside/child.yaml").refused(code, "provider.yaml#/graphs/1");
    moved("provider/scripts/lib.sh", "outside/lib.sh").refused(code, "actions/run.yaml#/files/0");
    moved("provider/schemas/answer.json", "outside/answer.json").refused(code, "actions/ask.yaml#/outputSchema");
    moved("provider/data/table.csv", "outside/table.csv").refused(code, "resources/table.yaml#/path");
    moved("provider/codes.yaml", "outside/codes.yaml").refused(code, "provider.yaml#/catalogs/codes");
    moved("provider/provider.yaml", "outside/provider.yaml").refused(code, "provider.yaml");
    // In the middle of one.
    moved("provider/actions", "outside/actions").refused(code, "graphs/main.yaml#/nodes/0/action");
    moved("provider/skills", "outside/skills").refused(code, "actions/work.yaml#/skill");
    moved("provider/skills/work", "outside/work").refused(code, "actions/work.yaml#/skill");
    // In a folder that is carried whole.
    moved("provider/skills/work/more/table.csv", "outside/table.csv").refused(code, "skills/work/more/table.csv");
    // Over another link that stays inside.
    let folder = moved("provider/data/table.csv", "outside/table.csv");
    symlink("../data/table.csv", folder.path("provider/scripts/also.sh")).unwrap();
    folder.write("provider/codes.yaml", "{schema: agent-graph.code-catalog.v1, codes: []}");
    folder.write(
        "provider/provider.yaml",
        &Small::new().0["provider.yaml"].replace("catalogs: { codes: codes.yaml }", ""),
    );
    folder.write("provider/actions/view.yaml", &VIEW.replace("FILE", "scripts/also.sh"));
    folder.refused(code, "actions/view.yaml#/files/0");
    // A relative link, and one to the root's own neighbour whose name begins alike.
    let folder = Folder::new();
    folder.write("provider-two/x.sh", "exit 0");
    symlink("../../provider-two/x.sh", folder.path("provider/scripts/x.sh")).unwrap();
    folder.write("provider/actions/view.yaml", &VIEW.replace("FILE", "scripts/x.sh"));
    folder.refused(code, "actions/view.yaml#/files/0");
}

const VIEW: &str =
    "{schema: agent-graph.action.v1, id: view, runner: command, effect: read, command: cat view, files: [FILE]}";

#[test]
fn links_that_stay_inside_are_followed() {
    let folder = Folder::new().moved("provider/scripts", "provider/programs");
    symlink("../SKILL.md", folder.path("provider/skills/work/more/also.md")).unwrap();
    // A folder is carried with all that is in it.
    folder.write("provider/shared/deep/one.md", "1");
    symlink("../../../shared", folder.path("provider/skills/work/more/shared")).unwrap();
    let provider = folder.load().unwrap();
    for path in ["scripts/run.sh", "skills/work/more/also.md", "skills/work/more/shared/deep/one.md"] {
        assert!(provider.files.contains_key(path), "{path}");
    }
    // The folder of the Provider may itself be reached over a link.
    symlink(folder.path("provider"), folder.path("link")).unwrap();
    let (disk, manifest) = Disk::of(&folder.path("link/provider.yaml")).unwrap();
    assert_eq!(load(&disk, &manifest).unwrap().files, provider.files);
}

#[test]
fn links_in_a_circle_and_links_to_nothing_end() {
    let folder = Folder::new();
    symlink("b.sh", folder.path("provider/scripts/a.sh")).unwrap();
    symlink("a.sh", folder.path("provider/scripts/b.sh")).unwrap();
    folder.write("provider/actions/view.yaml", &VIEW.replace("FILE", "scripts/a.sh"));
    folder.refused("file-read-failed", "actions/view.yaml#/files/0");
    let folder = Folder::new();
    symlink("gone.sh", folder.path("provider/scripts/a.sh")).unwrap();
    folder.write("provider/actions/view.yaml", &VIEW.replace("FILE", "scripts/a.sh"));
    folder.refused("file-missing", "actions/view.yaml#/files/0");
    // Folders that link to each other are not walked for ever.
    let folder = Folder::new();
    folder.write("provider/other/a.md", "a");
    symlink("../../../other", folder.path("provider/skills/work/more/other")).unwrap();
    symlink("../skills/work", folder.path("provider/other/work")).unwrap();
    let mut ours = folder.load().unwrap().files;
    assert!(ours.remove("skills/work/more/other/a.md").is_some());
    assert_eq!(ours, Small::new().load().unwrap().files);
    // Nor is a folder that leads to many by ways that double.
    let folder = Folder::new();
    for level in 0..30 {
        folder.write(&format!("provider/ways/{level}/x.md"), "");
        fs::remove_file(folder.path(&format!("provider/ways/{level}/x.md"))).unwrap();
        for way in ["a", "b"] {
            symlink(format!("../{}", level + 1), folder.path(&format!("provider/ways/{level}/{way}"))).unwrap();
        }
    }
    fs::create_dir(folder.path("provider/ways/30")).unwrap();
    symlink("../../../ways/0", folder.path("provider/skills/work/more/ways")).unwrap();
    assert!(folder.load().unwrap_err().message.contains("10000 files or folders"));
    let folder = Folder::new();
    symlink(".", folder.path("provider/skills/work/more/again")).unwrap();
    assert_eq!(folder.load().unwrap().files, Small::new().load().unwrap().files);
}

#[test]
fn a_skill_is_bound_by_path_or_through_a_registry() {
    let folder = Folder::new();
    let skill = |locator: &str, graph: &str, entry: &str| {
        let metadata =
            format!("  agent-graph: {locator}\n  agent-graph.graph: {graph}\n  agent-graph.entry: {entry}\n");
        folder.write("skills/s/SKILL.md", &format!("---\nname: s\nmetadata:\n{metadata}---\n# S\n"));
        folder.path("skills/s/SKILL.md")
    };
    let real = |path: &str| fs::canonicalize(folder.path(path)).unwrap().to_str().unwrap().to_owned();
    let code = |skill: &Path, registry: Option<&Path>| bind(skill, registry).unwrap_err().code.into_owned();

    let bound = bind(&skill("path:../../provider/provider.yaml", "main", "decide"), None).unwrap();
    assert_eq!(bound.binding.manifest_path, real("provider/provider.yaml"));
    assert_eq!(bound.binding.skill_path, real("skills/s/SKILL.md"));
    assert_eq!((&*bound.binding.provider, &*bound.binding.entry), ("acme/small", "decide"));
    assert_eq!(bound.provider.id(), "acme/small");

    folder.write(
        "hosts/registry.yaml",
        "providers:\n  acme/small: ../provider/provider.yaml\n  acme/alias: ../provider/provider.yaml\n",
    );
    let registry = folder.path("hosts/registry.yaml");
    let by_id = bind(&skill("provider:acme/small", "child", "default"), Some(&registry)).unwrap();
    assert_eq!(by_id.binding.manifest_path, real("provider/provider.yaml"));
    assert_eq!(by_id.binding.locator, "provider:acme/small");

    // In a bundle the manifest may have had another name.
    let manifest = bound.disk.folder().join("provider.yaml");
    fs::rename(&manifest, manifest.with_file_name("my.yaml")).unwrap();
    let (disk, name) = Disk::of(&manifest.with_file_name("my.yaml")).unwrap();
    for (path, bytes) in graph::build(&disk, &load(&disk, &name).unwrap()).unwrap().files {
        folder.write(&format!("bundle/{path}"), std::str::from_utf8(&bytes).unwrap());
    }
    let bundled = bind(&skill("path:../../bundle/my.yaml", "main", "decide"), None).unwrap();
    assert_eq!(bundled.binding.manifest_path, real("bundle/manifest.json"));
    fs::rename(manifest.with_file_name("my.yaml"), &manifest).unwrap();

    assert_eq!(code(&folder.path("none/SKILL.md"), None), "file-missing");
    assert_eq!(code(&skill("path:../none.yaml", "main", "default"), None), "file-missing");
    assert_eq!(code(&skill("path:/etc/x.yaml", "main", "default"), None), "skill-locator-absolute");
    assert_eq!(code(&skill("https://acme.test", "main", "default"), None), "skill-locator-invalid");
    let path = "path:../../provider/provider.yaml";
    assert_eq!(code(&skill(path, "other", "default"), None), "skill-graph-missing");
    assert_eq!(code(&skill(path, "main", "other"), None), "skill-entry-missing");
    assert_eq!(code(&skill(path, "main", "''"), None), "skill-binding-missing");
    assert_eq!(code(&skill("provider:acme/small", "main", "default"), None), "provider-unresolved");
    assert_eq!(code(&skill("provider:acme/other", "main", "default"), Some(&registry)), "provider-unresolved");
    assert_eq!(code(&skill("provider:acme/alias", "main", "default"), Some(&registry)), "provider-id-mismatch");
    assert_eq!(code(&skill("provider:acme/small", "main", "default"), Some(&folder.path("none.yaml"))), "file-missing");
    folder.write("hosts/registry.yaml", "providers: 7");
    assert_eq!(code(&skill("provider:acme/small", "main", "default"), Some(&registry)), "registry-invalid");
}
