//! One way down: a module imports only what stands above it in the table of `ARCHITECTURE.md`. Test code is free.

use std::fs;
use std::path::{Path, PathBuf};

const ORDER: [&str; 14] = [
    "geometry", "types", "attacks", "variant", "position", "movegen", "record", "mate", "eval", "search", "engine",
    "usi", "tools", "main",
];

/// The place of a name that stands after `crate::`. Macros live at the root but belong to a module.
fn place(name: &str) -> Option<usize> {
    let module = if name == "attack_tables" { "attacks" } else { name };
    ORDER.iter().position(|&known| known == module)
}

/// The source with comments and test modules blanked, line by line.
fn product_code(source: &str) -> String {
    let mut code: String = source.lines().map(|line| line.split("//").next().unwrap_or("").to_owned() + "\n").collect();
    while let Some(start) = code.find("#[cfg(test)]") {
        let end = code[start..].find(['{', ';']).map_or(code.len(), |at| start + at);
        let mut depth = 0;
        let closes = |(at, letter): (usize, char)| {
            depth += i32::from(letter == '{') - i32::from(letter == '}');
            (depth == 0).then_some(end + at + 1)
        };
        let end = code[end..].char_indices().find_map(closes).unwrap_or(code.len());
        let blank: String = code[start..end].chars().filter(|&letter| letter == '\n').collect();
        code.replace_range(start..end, &blank);
    }
    code
}

/// The first names of all paths that begin at the crate's root, each with its line. `depth` is how many times `super`
/// leads there.
fn root_paths(source: &str, depth: usize) -> Vec<(usize, String)> {
    let code = product_code(source).replace(&"super::".repeat(depth), "crate::");
    let identifier = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut found = Vec::new();
    for (at, path) in code.match_indices("crate::") {
        if code[..at].ends_with(identifier) {
            continue;
        }
        let (mut nesting, mut first) = (0, true);
        for (offset, letter) in code[at + path.len()..].char_indices() {
            let start = at + path.len() + offset;
            match letter {
                '{' => (nesting, first) = (nesting + 1, nesting == 0),
                '}' => nesting -= 1,
                ',' => first = nesting == 1,
                ' ' | '\n' => {}
                _ if first => {
                    let name = code[start..].split(|letter| !identifier(letter)).next().unwrap_or("");
                    found.push((code[..start].matches('\n').count() + 1, name.to_owned()));
                    first = false;
                }
                _ => {}
            }
            if nesting == 0 && !first {
                break;
            }
        }
    }
    found
}

/// Every arrow of a file that points down, as `line: from -> to`.
fn wrong_arrows(module: &str, source: &str, depth: usize) -> Vec<String> {
    let Some(own) = place(module) else { return vec![format!("0: {module} stands in no table")] };
    let paths = root_paths(source, depth).into_iter();
    paths.filter(|(_, to)| place(to) > Some(own)).map(|(line, to)| format!("{line}: {module} -> {to}")).collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn no_module_imports_what_stands_below_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 20);
    let mut wrong = Vec::new();
    for file in files {
        let inside = file.strip_prefix(&root).unwrap();
        let names: Vec<_> = inside.with_extension("").iter().map(|name| name.to_str().unwrap().to_owned()).collect();
        if names == ["lib"] || names.last().is_some_and(|name| name == "tests") {
            continue;
        }
        let depth = names.len() - usize::from(names.last().is_some_and(|name| name == "mod"));
        let arrows = wrong_arrows(&names[0], &fs::read_to_string(&file).unwrap(), depth);
        wrong.extend(arrows.into_iter().map(|arrow| format!("src/{}:{arrow}", inside.display())));
    }
    assert!(wrong.is_empty(), "arrows that point the wrong way:\n{}", wrong.join("\n"));
}

#[test]
fn a_wrong_arrow_is_found() {
    let source = "use crate::types::Move;\n// use crate::engine::Engine;\nuse crate::{\n    geometry::{Word, search},\n    \
                  usi, variant::Variant,\n};\nfn f() { $crate::eval::go(); super::super::tools::run(); }\n\
                  #[cfg(test)]\nmod tests {\n    use crate::main; fn f() {}\n}\nuse crate::search;\nuse not_crate::usi;\n";
    let expected = ["5: position -> usi", "7: position -> eval", "7: position -> tools", "12: position -> search"];
    assert_eq!(wrong_arrows("position", source, 2), expected);
    assert_eq!(wrong_arrows("tools", source, 2), [""; 0]);
    assert_eq!(wrong_arrows("geometry", "attack_tables!(); use crate::{attack_tables, geometry};", 1).len(), 1);
    assert_eq!(wrong_arrows("unheard_of", "", 1).len(), 1);
}
