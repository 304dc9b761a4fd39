//! The server: loopback alone, requests of its own pages alone, and nothing but reading.

mod answer;
mod gate;
mod reply;
mod route;

use crate::ViewerError;
use crate::library::{DocumentReaders, Library};
use axum::Router;
use axum::extract::{Request, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream;
use reply::Answer;
use route::Route;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::watch;

/// How often the directories are looked at while a page waits for changes, at most and at least.
const LOOK_EVERY: Duration = Duration::from_secs(1);
const LOOK_AT_LEAST_EVERY: Duration = Duration::from_mins(1);
/// So many times as long as a look and the pages after it took is nothing looked at: watching a run takes a hundredth of one processor.
const PAUSE_OF_COST: u32 = 100;

/// What is served, and where.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    /// Results directories or bundles.
    pub directories: Vec<PathBuf>,
    /// The port on loopback; 0 for one that is free.
    pub port: u16,
    /// Whether private parts are read where they lie beside.
    pub with_private: bool,
    /// What reads documents that are others' to judge.
    pub readers: DocumentReaders,
}

/// A server that is bound and not yet serving.
#[derive(Debug)]
pub struct ViewerServer {
    listener: TcpListener,
    address: SocketAddr,
    library: Arc<Library>,
}

/// What every request needs.
#[derive(Debug, Clone)]
struct Shared {
    library: Arc<Library>,
    port: u16,
    changes: watch::Sender<u64>,
    /// Nanoseconds that pages took since the directories were looked at last.
    pages: Arc<AtomicU64>,
}

impl ViewerServer {
    /// Binds a port on loopback.
    ///
    /// # Errors
    /// [`ViewerError`] when a directory is missing or the port is taken.
    pub async fn bind(settings: &ServerSettings) -> Result<Self, ViewerError> {
        let library = Arc::new(Library::new(
            &settings.directories,
            settings.with_private,
            settings.readers,
        )?);
        let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, settings.port));
        let taken = |error: std::io::Error| {
            ViewerError::input(
                format!("cannot listen on {wanted}: {error}"),
                "choose another port with --port, or 0 for one that is free",
            )
        };
        let listener = TcpListener::bind(wanted).await.map_err(taken)?;
        let address = listener.local_addr().map_err(taken)?;
        Ok(Self {
            listener,
            address,
            library,
        })
    }

    /// The address of its first page.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Serves until it is dropped.
    ///
    /// # Errors
    /// [`ViewerError`] when the system takes the listener away.
    pub async fn serve(self) -> Result<(), ViewerError> {
        let (changes, _) = watch::channel(0);
        let shared = Shared {
            library: self.library,
            port: self.address.port(),
            changes,
            pages: Arc::default(),
        };
        let watching = watch_directories(shared.clone());
        let router = Router::new().fallback(respond).with_state(shared);
        let serving = axum::serve(self.listener, router);
        tokio::select! {
            ended = serving => ended.map_err(|error| ViewerError::invalid(format_args!("the server ended: {error}"))),
            () = watching => Ok(()),
        }
    }
}

/// Looks whether anything changed, while anybody waits for it.
async fn watch_directories(shared: Shared) {
    let (mut ended, mut took) = (Instant::now(), Duration::ZERO);
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let cost = took + Duration::from_nanos(shared.pages.load(Ordering::Relaxed));
        if shared.changes.receiver_count() == 0 || ended.elapsed() < pause_after(cost) {
            continue;
        }
        shared.pages.store(0, Ordering::Relaxed);
        let begun = Instant::now();
        let library = Arc::clone(&shared.library);
        let look = tokio::task::spawn_blocking(move || library.fingerprint());
        let found = look.await;
        (ended, took) = (Instant::now(), begun.elapsed());
        if let Ok(Ok(now)) = found {
            shared
                .changes
                .send_if_modified(|known| std::mem::replace(known, now) != now);
        }
    }
}

/// How long nothing is looked at after what took so long.
fn pause_after(cost: Duration) -> Duration {
    cost.saturating_mul(PAUSE_OF_COST)
        .clamp(LOOK_EVERY, LOOK_AT_LEAST_EVERY)
}

async fn respond(State(shared): State<Shared>, request: Request) -> Response {
    if let Err(refusal) = gate::check(&request, shared.port) {
        return Answer::refused(refusal).into_response();
    }
    let Some(route) = Route::of(request.uri()) else {
        return Answer::missing().into_response();
    };
    if route == Route::Events {
        return events(&shared).into_response();
    }
    let library = Arc::clone(&shared.library);
    let opened = if let Route::Episode { slug, .. } = &route {
        Some(slug.clone())
    } else if let Route::Step { slug, .. } = &route {
        (!library.holds(slug)).then(|| slug.clone())
    } else {
        None
    };
    let opened = opened.map(|slug| (Arc::clone(&library), slug));
    let begun = Instant::now();
    let work = tokio::task::spawn_blocking(move || answer::answer(&library, &route));
    let answer = work.await;
    let took = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    shared.pages.fetch_add(took, Ordering::Relaxed);
    if let Some((library, slug)) = opened {
        // Whoever opens an episode or a step opens another step next; what fails here is said by that step's own page.
        tokio::task::spawn_blocking(move || library.prepare(&slug));
    }
    match answer {
        Ok(answer) => answer.into_response(),
        Err(_) => Answer::failed().into_response(),
    }
}

/// One event a change; the first state that is found is none.
fn events(shared: &Shared) -> impl IntoResponse + use<> {
    // The page that now waits for changes was opened by a person, and is no price of watching.
    shared.pages.store(0, Ordering::Relaxed);
    let receiver = shared.changes.subscribe();
    let changes = stream::unfold(receiver, |mut receiver| async move {
        receiver.changed().await.ok()?;
        let event = Event::default().data("changed");
        Some((Ok::<Event, Infallible>(event), receiver))
    });
    Sse::new(changes).keep_alive(KeepAlive::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watching_takes_a_hundredth_of_a_processor_and_no_page_is_older_than_a_minute() {
        for (cost_ms, pause_s) in [(0, 1), (5, 1), (110, 11), (2_000, 60)] {
            let pause = pause_after(Duration::from_millis(cost_ms));
            assert_eq!(pause, Duration::from_secs(pause_s), "{cost_ms} ms");
        }
    }
}
