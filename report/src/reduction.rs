//! What is wrong with a command line of `tinymlir-reduce`, before upstream's main gets it, which would say nothing or little.

use crate::{
    files::{beside, is_special},
    help::{all_names, options_in, wrong_name},
    suggest::did_you_mean,
};
use std::{ffi::OsString, path::Path};

/// Of an argument of `tinymlir-reduce` that is one of upstream's reductions, what is wrong with it.
pub fn wrong_reduction(argument: &str) -> Option<String> {
    let (name, options) = argument.trim_start_matches('-').split_once('=')?;
    let known: &[&str] = match name {
        "reduction-tree" => &["traversal-mode", "test", "test-arg"],
        "opt-reduction-pass" => &["opt-pass", "test", "test-arg"],
        _ => return None,
    };
    let given = options_in(options);
    if let Some(message) = wrong_name(name, &given, known) {
        return Some(message);
    }
    let value = |option: &str| given.iter().find(|(o, _)| *o == option).map(|(_, value)| *value);
    let Some(script) = value("test") else {
        return Some(format!("--{name}: no script says what is interesting (give test=SCRIPT)"));
    };
    let pass = value("opt-pass").unwrap_or_default().split(['{', '(']).next().unwrap_or_default();
    if pass.starts_with("tinymlir-") && !all_names().contains(&pass) {
        return Some(format!("there is no pass or pipeline '{pass}'{}", did_you_mean(pass, all_names())));
    }
    use std::os::unix::fs::PermissionsExt;
    match std::fs::metadata(script) {
        Err(error) => Some(format!("--{name}: the script {script}: {error}")),
        Ok(file) if file.permissions().mode() & 0o111 == 0 => {
            Some(format!("--{name}: the script {script} is not executable (chmod +x {script})"))
        }
        Ok(_) => None,
    }
}

/// What is wrong with the whole command line of `tinymlir-reduce`: upstream's main prints the module as it is where no reduction is
/// named, and says nothing of an output that cannot be written.
pub fn wrong_reduce(arguments: &[OsString]) -> Option<String> {
    const REDUCTIONS: [&str; 3] = ["tinymlir-reduction", "reduction-tree", "opt-reduction-pass"];
    let texts: Vec<&str> = arguments.iter().skip(1).filter_map(|a| a.to_str()).collect();
    let is_flag = |text: &&&str| text.starts_with('-') && **text != "-";
    let flags = || texts.iter().filter(is_flag).map(|text| text.trim_start_matches('-'));
    if flags().any(|flag| ["help", "show-passes", "list-passes", "print-"].iter().any(|p| flag.starts_with(p))) {
        return None;
    }
    let mut output = flags().find_map(|flag| flag.strip_prefix("o="));
    let mut module = false;
    let mut rest = texts.iter();
    while let Some(text) = rest.next() {
        match *text {
            "-o" | "--o" => output = rest.next().copied(),
            _ => module |= !is_flag(&text),
        }
    }
    if !module {
        return Some("no module is given (see --help)".into());
    }
    // What only looks like one is LLVM's to answer, with the nearest name.
    let named = |flag: &str| {
        let name = flag.split('=').next().unwrap_or_default();
        REDUCTIONS.contains(&name) || !did_you_mean(name, REDUCTIONS).is_empty()
    };
    if !flags().any(named) {
        return Some("no reduction is named: give --tinymlir-reduction=test=SCRIPT (see --help)".into());
    }
    let output = output.map(Path::new).filter(|file| *file != Path::new("-") && !is_special(file))?;
    beside(output).err().map(|error| format!("{error:#}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reduction_names_what_is_wrong_with_it() {
        let wrong = |text| wrong_reduction(text).unwrap();
        assert!(wrong("--reduction-tree=traversal-mod=0 test=x").contains("did you mean 'traversal-mode'?"));
        assert!(wrong("--reduction-tree=traversal-mode=0").contains("give test=SCRIPT"));
        assert!(wrong("--reduction-tree=test=./none.sh").contains("./none.sh: No such file"));
        assert!(wrong("--opt-reduction-pass=test=Cargo.toml opt-pass=cse").contains("is not executable (chmod +x"));
        assert!(wrong("--opt-reduction-pass=opt-pass=tinymlir-fuze test=x").contains("did you mean 'tinymlir-fuse'?"));
        assert_eq!(wrong_reduction("--reduction-tree=test=/bin/sh traversal-mode=0"), None);
        assert_eq!(wrong_reduction("--split-input-file=x"), None);
    }

    #[test]
    fn a_reduction_needs_a_module_a_name_and_a_place() {
        let wrong = |text: &str| wrong_reduce(&text.split(' ').map(OsString::from).collect::<Vec<_>>());
        let named = "tinymlir-reduce a.mlir --tinymlir-reduction=test=./s";
        assert_eq!(wrong(named), None);
        assert_eq!(wrong(&format!("{named} -o /dev/null")), None);
        assert_eq!(wrong("tinymlir-reduce --help-hidden"), None);
        assert!(wrong("tinymlir-reduce -o x --tinymlir-reduction").unwrap().starts_with("no module"));
        assert_eq!(wrong("tinymlir-reduce a.mlir --reduction-tre=test=x"), None);
        assert!(wrong("tinymlir-reduce a.mlir --cse").unwrap().starts_with("no reduction is named"));
        for output in ["-o none/x", "-o=none/x", "--o none/x"] {
            let message = wrong(&format!("{named} {output}")).unwrap();
            assert!(message.contains("there is no folder none"), "{message}");
        }
    }
}
