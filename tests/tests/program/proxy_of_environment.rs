//! A proxy of the environment is used where the experiment says so, and nowhere else.

#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use ktd_baselines::named;
use ktd_kit::{Folder, Vendor, command};
use serde_json::Value;

/// What a run with the proxy in its environment came to.
fn run(folder: &Folder, proxy: &Vendor, agent: &str) -> Value {
    folder.write(
        "try.toml",
        format!(
            "name = \"try\"\nsynthetic = {{ seed = 5, names = 20, days = 200 }}\n\
             masks = [{{ level = \"blinded\" }}]\nmodes = [\"fixed-candidate\"]\n\
             windows = [{{ id = \"w\", last_days = 1 }}]\nretries = {{ attempts = 1, unanswered_hours = 0 }}\n\
             agents = [{{ id = \"m\", model = \"momentum\", base_url = \"http://vendor.invalid/v1\"{agent} }}]\n"
        ),
    );
    let address = proxy.base_url();
    let address = address.trim_end_matches("/v1");
    let mut command = command(
        folder.path(),
        &["--json", "--quiet", "run", "try.toml", "--out", "out"],
    );
    for name in [
        "http_proxy",
        "HTTP_PROXY",
        "all_proxy",
        "ALL_PROXY",
        "no_proxy",
        "NO_PROXY",
    ] {
        command.env_remove(name);
    }
    let output = command.env("HTTP_PROXY", address).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn only_an_experiment_that_says_so_goes_through_it() {
    let proxy = Vendor::of_model(named("momentum", 1).unwrap());
    let folder = Folder::new();
    let told = run(&folder, &proxy, "");
    assert_eq!(proxy.count(), 0, "nothing was asked through the proxy: {told}");
    let folder = Folder::new();
    let told = run(&folder, &proxy, ", proxy = \"environment\"");
    assert!(0 < proxy.count(), "{told}");
    let requests = proxy.requests();
    assert!(
        requests
            .iter()
            .all(|request| request.head.contains("http://vendor.invalid/v1/")),
        "the proxy is asked for the whole address"
    );
    assert_eq!(told["cells"][0]["summary"]["counters"]["uncovered"], 0, "{told}");
}
