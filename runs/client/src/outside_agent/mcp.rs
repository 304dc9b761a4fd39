//! The MCP side of the bridge: seven tools, one resource, one prompt.

use super::conversation::{role, text};
use super::turn::{TURN_BYTES_MAX, raw};
use super::{AgentMailbox, AgentTurn, Conversation, EpisodeEnd, SentMessages};
use ktd_agents::SUBMIT_ACTION;
use ktd_bundle::event::StepOutcome;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, Implementation, ListPromptsResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, Prompt, PromptMessage, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, Role, ServerCapabilities,
    ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::Mutex;

/// Where the current step can be read.
const STEP_URI: &str = "ktd://step";
const STEP_PROMPT: &str = "step";
const STEP_DESCRIPTION: &str = "The conversation of the current step so far, from its opening message with the \
    STATE. It changes as the episode goes on.";
const FINISHED: &str = "The episode is over and its bundle is finished. There is nothing left to decide.";
const STOPPED: &str = "The episode has stopped. Whoever runs the server sees why on its standard error.";

/// An MCP server for one episode. It says what the harness says to every model, and nothing else.
#[derive(Debug)]
pub struct Server {
    mailbox: Arc<AgentMailbox>,
    instructions: String,
    tools: Vec<Tool>,
    /// Held by the call that is being answered: a step hears one call at a time.
    client: Mutex<Client>,
}

/// What the client of this connection knows.
#[derive(Debug, Default)]
struct Client {
    /// Whether it was sent the conversation of the current step.
    is_told: bool,
}

impl Server {
    /// A server for the episode whose questions come over `mailbox`, and what its first question says.
    #[must_use]
    pub fn new(mailbox: Arc<AgentMailbox>, first: &Result<Arc<Conversation>, EpisodeEnd>) -> Self {
        let (instructions, tools) = match first {
            Ok(conversation) => (
                conversation.system.clone(),
                conversation.tools.iter().filter_map(tool).collect(),
            ),
            Err(over) => (over_text(*over).to_owned(), Vec::new()),
        };
        Self {
            mailbox,
            instructions,
            tools,
            client: Mutex::default(),
        }
    }

    /// The step as the client may read it.
    async fn step(&self) -> String {
        let mut client = self.client.lock().await;
        match self.mailbox.question().await {
            Ok(conversation) => {
                client.is_told = true;
                transcript(&conversation)
            }
            Err(over) => over_text(over).to_owned(),
        }
    }

    async fn call(&self, request: CallToolRequestParams) -> Result<CallToolResult, ErrorData> {
        let invalid = |what: String| ErrorData::invalid_params(what, None);
        let arguments = request.arguments.as_ref().map(raw);
        if arguments
            .as_ref()
            .is_some_and(|json| TURN_BYTES_MAX < json.get().len())
        {
            return Err(invalid(format!("the arguments exceed {TURN_BYTES_MAX} bytes")));
        }
        let turn =
            AgentTurn::call(raw(&request.name), arguments).map_err(|error| invalid(error.to_string()))?;
        let mut client = self.client.lock().await;
        let before = match self.mailbox.question().await {
            Ok(conversation) => conversation,
            Err(over) => return Ok(CallToolResult::error(vec![ContentBlock::text(over_text(over))])),
        };
        let is_submission = turn.is_submission();
        self.mailbox.answer(turn).await;
        let after = self.mailbox.question().await;
        let answer = match &after {
            Ok(after) => match SentMessages::all(&before).news(after) {
                Some(news) => {
                    let mut answer = continued(news, before.must_submit || is_submission);
                    if !client.is_told {
                        answer.blocks.push(transcript(&before));
                    }
                    answer
                }
                None => self.ended(transcript(after)),
            },
            Err(over) => self.ended(over_text(*over).to_owned()),
        };
        client.is_told = true;
        Ok(answer.into())
    }

    /// The answer to the call that ended a step, with what follows it.
    fn ended(&self, next: String) -> Answer {
        let now = self.mailbox.steps().now();
        let ended = now
            .ended
            .map(|ended| format!("Step {}: {}", ended.step, outcome_text(ended.outcome)));
        let is_error = now
            .ended
            .is_some_and(|ended| ended.outcome == StepOutcome::Fallback);
        Answer {
            blocks: ended.into_iter().chain([next]).collect(),
            is_error,
        }
    }
}

/// What a call is answered with.
struct Answer {
    blocks: Vec<String>,
    is_error: bool,
}

impl From<Answer> for CallToolResult {
    fn from(answer: Answer) -> Self {
        let blocks = answer.blocks.into_iter().map(ContentBlock::text).collect();
        if answer.is_error {
            Self::error(blocks)
        } else {
            Self::success(blocks)
        }
    }
}

/// The messages since a call, inside its step. Whatever follows a submission is feedback on it.
fn continued(news: &[Value], was_submission: bool) -> Answer {
    let said = news.iter().filter(|message| role(message) != "assistant");
    let blocks: Vec<String> = said.map(|message| text(message).to_owned()).collect();
    let is_error = was_submission || blocks.first().is_some_and(|answer| is_refusal(answer));
    Answer { blocks, is_error }
}

/// Whether a tool's answer is the list of what was wrong with the call.
fn is_refusal(answer: &str) -> bool {
    serde_json::from_str::<Value>(answer).is_ok_and(|answer| answer.get("errors").is_some())
}

const fn over_text(over: EpisodeEnd) -> &'static str {
    match over {
        EpisodeEnd::Finished => FINISHED,
        EpisodeEnd::Stopped => STOPPED,
    }
}

const fn outcome_text(outcome: StepOutcome) -> &'static str {
    match outcome {
        StepOutcome::Submitted => {
            "the orders were taken; `last_step` of the next STATE says what became of them."
        }
        StepOutcome::Hold => "taken as a decision to hold.",
        StepOutcome::Fallback => {
            "no submission was good within the attempts; the step ended without a trade."
        }
        StepOutcome::Uncovered => "lost to a fault of the infrastructure; it counts as no decision.",
    }
}

/// A conversation as one text: the opening message alone, or with the calls and answers that followed it.
fn transcript(conversation: &Conversation) -> String {
    let parts = conversation.messages.iter().flat_map(|message| {
        let calls = message.get("tool_calls").and_then(Value::as_array);
        let calls = calls.into_iter().flatten().map(|call| {
            let function = |key: &str| {
                call.pointer(&format!("/function/{key}"))
                    .and_then(Value::as_str)
                    .unwrap_or_default()
            };
            format!("[you called {} {}]", function("name"), function("arguments"))
        });
        let said = Some(text(message).to_owned()).filter(|said| !said.is_empty());
        said.into_iter().chain(calls).collect::<Vec<_>>()
    });
    parts.collect::<Vec<_>>().join("\n\n")
}

/// A tool of the harness as MCP tells it.
fn tool(tool: &Value) -> Option<Tool> {
    let function = tool.get("function")?;
    let member = |key: &str| function.get(key).and_then(Value::as_str).map(str::to_owned);
    let schema = function.get("parameters")?.as_object()?.clone();
    let name = member("name")?;
    let is_read_only = name != SUBMIT_ACTION;
    let hints = ToolAnnotations::new()
        .read_only(is_read_only)
        .destructive(false)
        .idempotent(is_read_only)
        .open_world(false);
    Some(Tool::new(name, member("description")?, Arc::new(schema)).with_annotations(hints))
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let offers = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .build();
        ServerConfig::new(offers)
            .with_server_info(Implementation::new("ktd", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.instructions.clone())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.call(request).await.map(Into::into)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let step = Resource::new(STEP_URI, STEP_PROMPT)
            .with_description(STEP_DESCRIPTION)
            .with_mime_type("text/plain");
        Ok(ListResourcesResult::with_all_items(vec![step]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != STEP_URI {
            let what = format!("there is no such resource; the only one is {STEP_URI}");
            return Err(ErrorData::resource_not_found(what, None));
        }
        let contents = ResourceContents::text(self.step().await, STEP_URI).with_mime_type("text/plain");
        // The step changes with every call, so that no copy of it is fresh.
        Ok(ReadResourceResult::new(vec![contents]).with_ttl_ms(0).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let step = Prompt::new(STEP_PROMPT, Some(STEP_DESCRIPTION), None);
        Ok(ListPromptsResult::with_all_items(vec![step]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != STEP_PROMPT {
            let what = format!("there is no such prompt; the only one is {STEP_PROMPT:?}");
            return Err(ErrorData::invalid_params(what, None));
        }
        let message = PromptMessage::new_text(Role::User, self.step().await);
        Ok(GetPromptResult::new(vec![message]).into())
    }
}
