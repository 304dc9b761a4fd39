//! The `ktd` program.

fn main() -> std::process::ExitCode {
    ktd_cli::main()
}
