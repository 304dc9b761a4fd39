//! Many episodes at once against a slow provider: wall clock against what the provider's latency alone takes.
//!
//! The provider is a process of its own (this file, run again with the argument `serve`), so that its memory and its
//! CPU time are not ours. `KTD_BENCH_EPISODES` (1000) and `KTD_BENCH_LATENCIES_MS` (2000,200) change what is measured.

use ktd_env::synth::SynthConfig;
use ktd_episode::grid::{Grid, RunPlan};
use ktd_experiment::config::ExperimentConfig;
use ktd_kit::episode::run_grid;
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const STEPS: u32 = 5;

type Failure = Box<dyn Error + Send + Sync>;

/// One tool call, then no more, then an order to hold: three requests a step in `open-research`, one else.
fn reply(request: &[u8]) -> &'static str {
    const HOLD: &str = r#"{"choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"submit_action","arguments":"{\"orders\":[],\"overall_reason\":\"nothing stands out today\"}"}}]}}],"usage":{"prompt_tokens":4000,"completion_tokens":40}}"#;
    const LOOK: &str = r#"{"choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"c0","type":"function","function":{"name":"screen_candidates","arguments":"{\"factors\":[{\"factor\":\"Mom12_1\",\"weight\":1}]}"}}]}}],"usage":{"prompt_tokens":3000,"completion_tokens":30}}"#;
    const SEEN: &str = r#"{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"I have seen enough."}}],"usage":{"prompt_tokens":3500,"completion_tokens":10}}"#;
    let request = std::str::from_utf8(request).unwrap_or_default();
    if request.contains(r#""tool_choice":{"function":{"name":"submit_action"}"#) {
        HOLD
    } else if request.contains(r#""role":"tool""#) {
        SEEN
    } else {
        LOOK
    }
}

/// Answers requests of one connection, each after the latency.
async fn answer(mut stream: TcpStream, latency: Duration) -> Result<(), Failure> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::new();
    loop {
        let head_end = loop {
            if let Some(at) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
                break at + 4;
            }
            if stream.read_buf(&mut buffer).await? == 0 {
                return Ok(());
            }
        };
        let head = String::from_utf8_lossy(buffer.get(..head_end).unwrap_or_default()).to_ascii_lowercase();
        let length: usize = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length:"))
            .ok_or("a request without a length")?
            .trim()
            .parse()?;
        while buffer.len() < head_end + length {
            if stream.read_buf(&mut buffer).await? == 0 {
                return Ok(());
            }
        }
        let body = reply(buffer.get(head_end..head_end + length).unwrap_or_default());
        buffer.drain(..head_end + length);
        tokio::time::sleep(latency).await;
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).await?;
    }
}

#[expect(clippy::print_stdout, reason = "the parent reads the port")]
fn serve(latency: Duration) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("{}", listener.local_addr()?.port());
        std::io::stdout().flush()?;
        loop {
            let (stream, _) = listener.accept().await?;
            tokio::spawn(answer(stream, latency));
        }
    })
}

/// The provider's process; it ends with this value.
struct Provider {
    child: Child,
    port: u16,
}

impl Provider {
    fn start(latency: Duration) -> Result<Self, Failure> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["serve", &latency.as_millis().to_string()])
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        Ok(Self {
            child,
            port: line.trim().parse()?,
        })
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        // It may be gone already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn experiment(port: u16, mode: &str, episodes: usize) -> Result<ExperimentConfig, Failure> {
    let seeds: Vec<usize> = (1..=episodes).collect();
    let SynthConfig { names, .. } = SynthConfig::default();
    let text = format!(
        r#"name = "concurrency"
parallel_cells = {episodes}
synthetic = {{ seed = 1, names = {names}, days = 400 }}
windows = [{{ id = "five", last_days = {STEPS} }}]
masks = [{{ level = "blinded", numeric = "rescaled" }}]
modes = ["{mode}"]
seeds = {seeds:?}
agents = [{{ id = "slow", model = "slow-1", base_url = "http://127.0.0.1:{port}/v1" }}]
"#
    );
    Ok(ExperimentConfig::parse(&text)?)
}

/// Resident set and CPU seconds of a process, as the system counts them; zeros where it does not say.
fn use_of(process: &str) -> (f64, f64) {
    let read = |file: &str| std::fs::read_to_string(format!("/proc/{process}/{file}")).unwrap_or_default();
    let peak_mib = read("status")
        .lines()
        .find_map(|line| {
            line.strip_prefix("VmHWM:")?
                .trim()
                .strip_suffix(" kB")?
                .trim()
                .parse::<f64>()
                .ok()
        })
        .map_or(0.0, |kib| kib / 1024.0);
    let stat = read("stat");
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks: Vec<f64> = after_name
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|ticks| ticks.parse().ok())
        .collect();
    (peak_mib, ticks.iter().sum::<f64>() / 100.0)
}

#[expect(clippy::print_stdout, reason = "a bench tells its figures")]
#[expect(clippy::cast_precision_loss, reason = "counts of episodes and requests")]
fn measure(latency: Duration, mode: &str, episodes: usize) -> Result<TempDir, Failure> {
    let provider = Provider::start(latency)?;
    let folder = tempfile::tempdir()?;
    let plan = RunPlan {
        config: experiment(provider.port, mode, episodes)?,
        base: PathBuf::new(),
        output: folder.path().join("results"),
        program: Some(ktd_kit::this_program()),
    };
    let grid = Grid::open(plan)?;
    let (memory_before, cpu_before) = use_of("self");
    let start = Instant::now();
    let results = run_grid(grid, ktd_io::parallel::available_threads());
    let wall = start.elapsed().as_secs_f64();
    let (memory, cpu) = use_of("self");
    let (_, provider_cpu) = use_of(&provider.child.id().to_string());
    for result in &results {
        if let Err(error) = &result.result {
            return Err(format!("{}: {error}", result.cell.id).into());
        }
    }
    let turns = results
        .iter()
        .filter_map(|result| Some(result.result.as_ref().ok()?.counters.turns));
    let longest = turns.clone().max().unwrap_or(0);
    let faults: usize = results
        .iter()
        .filter_map(|result| result.result.as_ref().ok())
        .map(|summary| summary.counters.infrastructure_faults.values().sum::<usize>())
        .sum();
    let ideal = longest as f64 * latency.as_secs_f64();
    let requests = turns.sum::<usize>() as f64;
    let (cpu, memory) = (cpu - cpu_before, (memory - memory_before).max(0.0));
    println!(
        "{episodes:>5} episodes x {STEPS} steps, {mode:<13} {:>4} ms: wall {wall:6.2} s, ideal {ideal:6.2} s, ratio \
         {:.3}, {:6.0} requests/s, CPU {cpu:5.1} s ({:.2} ms a request), the provider's {provider_cpu:5.1} s \
         ({:.2} ms), memory {memory:5.0} MiB more ({:.2} MiB an episode), faults {faults}",
        latency.as_millis(),
        wall / ideal,
        requests / wall,
        cpu * 1e3 / requests,
        provider_cpu * 1e3 / requests,
        memory / episodes as f64,
    );
    Ok(folder)
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "serve") {
        let milliseconds = arguments.get(at + 1).ok_or("serve needs a latency")?.parse()?;
        return serve(Duration::from_millis(milliseconds));
    }
    let setting = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_owned());
    let most: usize = setting("KTD_BENCH_EPISODES", "1000").parse()?;
    let latencies: Vec<u64> = setting("KTD_BENCH_LATENCIES_MS", "2000,200")
        .split(',')
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    let modes = setting("KTD_BENCH_MODES", "memory-only,open-research");
    ktd_io::open_files::raise_open_files().ok_or("the number of open files cannot be raised")?;
    // Removed at the end alone: for a minute after files are removed, ext4 looks at each of their places again whenever
    // one is made.
    let mut folders = Vec::new();
    for latency in latencies {
        // At the short latency the curve up to where it saturates; at the long one the promise itself.
        let sizes: Vec<usize> = if latency < 1_000 {
            [1, 10, 30, 100, 200, 400, 700, 1_000]
                .into_iter()
                .filter(|size| *size <= most)
                .collect()
        } else {
            vec![most]
        };
        for mode in modes.split(',') {
            for size in &sizes {
                folders.push(measure(Duration::from_millis(latency), mode, *size)?);
            }
        }
    }
    Ok(())
}
