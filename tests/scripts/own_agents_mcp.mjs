// A client by the official TypeScript SDK: calls wrongly, hears so, then holds to the end of the episode.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import assert from "node:assert/strict";

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "holds", version: "1" });
await client.connect(new StdioClientTransport({ command, args, stderr: "inherit" }));

const { tools } = await client.listTools();
assert.equal(tools.length, 7);
assert.ok(client.getInstructions().includes("one stock account"));
const { messages } = await client.getPrompt({ name: "step" });
assert.ok(messages[0].content.text.includes('STATE:\n{"day":"day_+0"'));

const texts = (answer) => answer.content.map((block) => block.text).join("\n\n");
const tell = (action) => client.callTool({ name: "submit_action", arguments: action });
// The first submission of a step ends its research, whatever it holds; the next one is judged.
const submit = async (action) => {
  const early = await tell(action);
  return texts(early).includes("Research for this step is over") ? tell(action) : early;
};

const unknown = await client.callTool({ name: "no_such_tool", arguments: {} });
assert.ok(unknown.isError && texts(unknown).includes("unknown_tool"));
const wrong = await submit({ orders: 5 });
assert.ok(wrong.isError && texts(wrong).includes("attempt 1 of 4"));
let answer;
do {
  answer = await submit({ orders: [], overall_reason: "waiting for a better day" });
  assert.ok(!answer.isError);
  console.log(answer.content[0].text);
} while (!texts(answer).includes("The episode is over"));
await client.close();
