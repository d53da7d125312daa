#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use super::*;
use std::io::Write as _;

fn replaced(text: &str, pairs: &[(&str, &str)]) -> Result<Option<String>, Vec<String>> {
    let variables = Variables::from_pairs(pairs.iter().copied());
    let mut diagnostics = Diagnostics::default();
    Substitution { variables: &variables, diagnostics: &mut diagnostics }.text(text, &[])
}

#[test]
fn names_may_hold_dots_and_hyphens() {
    let pairs = [("secret_values.holo-username", "u"), ("mysql.port", "3306")];
    assert_eq!(replaced("${secret_values.holo-username}:${mysql.port}", &pairs).unwrap().unwrap(), "u:3306");
}

#[test]
fn other_dollars_stay() {
    for text in ["dst_$1.$2", "a$", "$", "${1}", "${", "${}", "${a b}", "$$_schema_operator_$$", "a${b"] {
        assert_eq!(replaced(text, &[]), Ok(None), "{text}");
    }
}

#[test]
fn values_are_not_looked_at_again() {
    assert_eq!(replaced("${a}", &[("a", "${b}"), ("b", "x")]).unwrap().unwrap(), "${b}");
}

#[test]
fn all_missing_names_are_told() {
    assert_eq!(replaced("${a}${b}", &[]), Err(vec!["a".to_owned(), "b".to_owned()]));
}

#[test]
fn set_goes_before_the_file_and_the_file_before_the_environment() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "# comment\n\nexport a=file\nb = \"quoted file\"\nPATH=from the file").unwrap();
    let variables = Variables::new(&["a=set=x".to_owned()], Some(file.path())).unwrap();
    assert_eq!(variables.get("a").unwrap(), "set=x");
    assert_eq!(variables.get("b").unwrap(), "quoted file");
    assert_eq!(variables.get("PATH").unwrap(), "from the file");
    let environment = Variables::new(&[], None).unwrap();
    assert_eq!(environment.get("path"), std::env::var("PATH").ok());
    assert_eq!(Variables::from_pairs([]).get("PATH"), None);
}

#[test]
fn errors_do_not_tell_values() {
    let error = Variables::new(&["bad name=hunter2".to_owned()], None).unwrap_err();
    assert!(!error.to_string().contains("hunter2"), "{error}");
    let error = Variables::new(&["hunter2".to_owned()], None).unwrap_err();
    assert!(!error.to_string().contains("hunter2"), "{error}");
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "a=1\nhunter2").unwrap();
    let error = Variables::new(&[], Some(file.path())).unwrap_err();
    assert!(error.to_string().contains(":2:") && !error.to_string().contains("hunter2"), "{error}");
    let variables = Variables::from_pairs([("password", "hunter2")]);
    assert!(!format!("{variables:?}").contains("hunter2"));
}
