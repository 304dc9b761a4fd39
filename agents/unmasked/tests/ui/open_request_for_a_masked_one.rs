//! What sends the requests of an episode takes no open one.
use ktd_agents::{ChatRequest, Dialect, Wire, WireRequest};
use ktd_unmasked::OpenRequest;

fn send(request: &ChatRequest) -> WireRequest {
    Wire::ChatCompletions.encode(request, &Dialect::plain())
}

fn main() {
    let _: fn(&OpenRequest) -> WireRequest = |request| send(request);
}
