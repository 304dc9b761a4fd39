// Writes a bundle as a stranger could by hand, every text of it hostile, with the header of a real one:
//   node viewer_planted.mjs BUNDLE OUT
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [bundle, out] = process.argv.slice(2);
const all = [
  '<script>window.planted=true</script>', '<svg onload="window.planted=true"></svg>',
  '"><img src=x onerror=window.planted=true>', '<a href="javascript:window.planted=true">x</a>',
  '\u001b[2J\u001b]0;title\u0007', '\u202egnp.exe\u2066', "=cmd|' /C calc'!A0", '</pre></style></main><iframe src="javascript:window.planted=true">',
].join(' ');
mkdirSync(out, { recursive: true });
copyFileSync(join(bundle, 'header.json'), join(out, 'header.json'));

const table = { columns: [all, 'stock_id', 'weight'], rows: [[all, all, 0.5]] };
const order = { stock_id: all, side: 'BUY', target_weight_millionths: 1, confidence: 0.5, reason: all };
const bodies = [
  { kind: 'episode_begin', mode: 'open-research', initial_cash_fen: 100 },
  { kind: 'step_begin', step: 1, day: all, as_of: all },
  { kind: 'tool_call', step: 1, name: all, refused: all },
  { kind: 'model_fault', step: 1, code: all, detail: all },
  { kind: 'decision', step: 1, outcome: 'submitted', orders: [order], overall_reason: all, is_repaired: false },
  { kind: 'fills', step: 1, fills: { orders: table, reasons: { [all]: all } } },
  { kind: 'step_end', step: 1, holdings: { nav: 1, holdings: table }, ledger: '' },
];
// The chain begins where the header says, or the bundle is damaged and shows nothing else.
let { prev } = JSON.parse(readFileSync(join(bundle, 'events.jsonl'), 'utf8').split('\n', 1)[0]);
const lines = bodies.map((body, seq) => {
  const line = JSON.stringify({ seq, prev, body });
  prev = createHash('sha256').update(line).digest('hex');
  return `${line}\n`;
});
writeFileSync(join(out, 'events.jsonl'), lines.join(''));

const at = { step: 1, ordinal: 0, attempt: 0 };
const long = 'x'.repeat(10 << 20);
const messages = [
  { role: 'system', content: all }, { role: all, content: long }, { role: 'user', content: `${all} STATE:\n${JSON.stringify({ a: all })}` },
];
const calls = [{ id: 'c', type: 'function', function: { name: 't', arguments: JSON.stringify({ [all]: all }) } }];
const message = { role: 'assistant', content: all, reasoning_content: all, tool_calls: calls };
const body = { choices: [{ index: 0, message, finish_reason: all }] };
const records = [
  { seq: 0, intent: { at, key: '', path: '/chat/completions', request: { messages } } },
  { seq: 1, outcome: { at, reply: { status: 200, headers: { [all]: all }, body } } },
];
writeFileSync(join(out, 'exchanges.jsonl'), records.map((record) => `${JSON.stringify(record)}\n`).join(''));
