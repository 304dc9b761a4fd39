//! Documents that the program prints under `--json`, held to the schemas of their commands.

use jsonschema::Validator;
use serde_json::Value;
use std::process::Output;
use std::sync::OnceLock;

/// A schema with the commands that print it.
struct Printed {
    file: String,
    commands: Vec<&'static str>,
    validator: Validator,
}

fn schemas() -> &'static [Printed] {
    static SCHEMAS: OnceLock<Vec<Printed>> = OnceLock::new();
    SCHEMAS.get_or_init(|| {
        let schemas = ktd_cli::printed_schemas().into_iter();
        let compiled = schemas.map(|of| Printed {
            validator: jsonschema::draft202012::new(&of.schema).unwrap(),
            file: of.file,
            commands: of.commands,
        });
        compiled.collect()
    })
}

/// Fails the test unless all that a command printed under `--json` is as a schema of this command says, and unless there is
/// something where it succeeded. A command that refused its input prints nothing here.
pub fn check_printed(arguments: &[&str], output: &Output) {
    let code = output.status.code();
    if !arguments.contains(&"--json") || !matches!(code, Some(0 | 1)) {
        return;
    }
    let words = arguments.iter().copied().filter(|word| !word.starts_with('-'));
    let words: Vec<&str> = words.take(2).collect();
    let both = words.join(" ");
    let is_of = |printed: &&Printed| {
        printed
            .commands
            .iter()
            .any(|own| *own == both || *own == words[0])
    };
    let own: Vec<&Printed> = schemas().iter().filter(is_of).collect();
    let mut documents = 0;
    for document in serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>() {
        let document = document.unwrap();
        documents += 1;
        let misfits = |printed: &&Printed| {
            let errors = printed.validator.iter_errors(&document);
            let errors: Vec<String> = errors
                .map(|error| format!("{}: {error}", error.instance_path()))
                .collect();
            (!errors.is_empty()).then(|| format!("{}: {}", printed.file, errors.join("\n  ")))
        };
        let misfits: Vec<String> = own.iter().map_while(misfits).collect();
        assert!(
            misfits.len() < own.len(),
            "ktd {}: no schema of it fits {document:.400}\n{}",
            arguments.join(" "),
            misfits.join("\n")
        );
    }
    assert!(0 < documents || code == Some(1), "{arguments:?}: no document");
}
