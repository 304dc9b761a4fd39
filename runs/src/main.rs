//! The `ktd` program.

fn main() -> std::process::ExitCode {
    ktd_runs::cli::main()
}
