// The browser's side of viewer_shots.sh: drives every page of a running viewer as people will, by keys and clicks, and keeps
// pictures.
import { cpSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from './browser.mjs';

const [browser, profile, start, out, cells] = process.argv.slice(2);
const origin = new URL(start).origin;
const DEADLINE_MS = 400_000;
const STATE_DEADLINE_MS = 60_000;
const WIDTHS = [1440, 1024, 390];

const { fail, listeners, send, finish } = launch(browser, profile, DEADLINE_MS);

let session;
const to = (method, params) => send(method, params, session);
const run = async (expression) => {
  const { result, exceptionDetails } = await to('Runtime.evaluate', { expression, returnByValue: true });
  if (exceptionDetails) fail(`${expression}: ${exceptionDetails.text}`);
  return result.value;
};

/** Does what leads to another page, and waits until that page has loaded. */
async function leads(act) {
  const loaded = new Promise((resolve) => {
    const listener = (message) => {
      if (message.method !== 'Page.loadEventFired') return;
      listeners.splice(listeners.indexOf(listener), 1);
      resolve();
    };
    listeners.push(listener);
  });
  await act();
  await loaded;
}

const open = (address) => leads(() => to('Page.navigate', { url: new URL(address, start).href }));

async function key(name, text) {
  await to('Input.dispatchKeyEvent', { type: 'keyDown', key: name, text });
  await to('Input.dispatchKeyEvent', { type: 'keyUp', key: name });
}

async function shots(name) {
  for (const width of WIDTHS) {
    for (const scheme of ['light', 'dark']) {
      await to('Emulation.setDeviceMetricsOverride', { width, height: 900, deviceScaleFactor: 1, mobile: width < 500 });
      await to('Emulation.setEmulatedMedia', { media: '', features: [{ name: 'prefers-color-scheme', value: scheme }] });
      const { cssContentSize: size } = await to('Page.getLayoutMetrics');
      if (width < size.width) fail(`${name} at ${width}: the page is ${size.width} wide`);
      const clip = { x: 0, y: 0, width, height: Math.min(2400, size.height), scale: 1 };
      const { data } = await to('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true, clip });
      writeFileSync(join(out, `${name}-${width}-${scheme}.png`), Buffer.from(data, 'base64'));
    }
  }
  await to('Emulation.setDeviceMetricsOverride', { width: 1440, height: 900, deviceScaleFactor: 1, mobile: false });
  if (await run('window.planted === true')) fail(`${name}: a planted script ran`);
}

const expect = async (expression, what) => { if (!(await run(expression))) fail(`expected ${what} at ${await run('location.href')}`); };

/** Waits until something is so. */
async function until(expression, what) {
  for (const late = Date.now() + STATE_DEADLINE_MS; Date.now() < late;) {
    if (await run(expression)) return;
    await new Promise((resolve) => { setTimeout(resolve, 50); });
  }
  fail(`expected ${what} at ${await run('location.href')}`);
}

// Runs in pages before their own script: keeps every stream of events, and lets a page be hidden and shown again.
const WATCHED = `
  window.streams = [];
  window.EventSource = class extends EventSource {
    constructor(...parts) { super(...parts); window.streams.push(this); }
  };
  let isHidden = false;
  Object.defineProperty(document, 'hidden', { get: () => isHidden });
  Object.defineProperty(document, 'visibilityState', { get: () => (isHidden ? 'hidden' : 'visible') });
  window.hide = (hides) => { isHidden = hides; document.dispatchEvent(new Event('visibilitychange')); };
`;

/** Another episode of the planted experiment, which stands before the one that is there: whole at once. */
function appears(name) {
  const unseen = join(cells, '..', '..', name);
  cpSync(join(cells, 'one'), unseen, { recursive: true });
  renameSync(unseen, join(cells, name));
}

/** A page that changes while it is open, hidden, and shown again. */
async function live() {
  const { identifier } = await to('Page.addScriptToEvaluateOnNewDocument', { source: WATCHED });
  await open('x/planted.html');
  const states = (wanted) => until(`window.streams.map((one) => one.readyState).join() === '${wanted}'`, `streams in the states ${wanted}`);
  await states('1');
  await until(`document.querySelector('.live').hidden === false`, 'the mark of a live page');
  await run(`window.hide(true)`);
  await states('2');
  await run(`document.querySelector('main').dataset.old = 'yes'; window.hide(false)`);
  await states('2,1');
  await until(`document.querySelector('main').dataset.old === undefined`, 'a newer page after it was hidden');

  const rows = `document.querySelectorAll('tbody tr').length`;
  const address = `document.activeElement.getAttribute('href')`;
  await run(`document.querySelector('tbody a').focus()`);
  const before = await run(address);
  if (!before?.includes('planted~one')) fail(`the keyboard is on ${before}`);
  appears('another');
  await until(`${rows} === 2`, 'the row of a new episode');
  await expect(`${address} === ${JSON.stringify(before)}`, 'the keyboard on the link that it was on');
  await expect(`document.activeElement !== document.querySelector('tbody a')`, 'a new row before it');
  // A field keeps its words and its place in them, a heading its order.
  await run(`document.querySelectorAll('table.sortable thead button')[5].click()`);
  await run(`(() => { const f = document.querySelector('input[name="words"]'); f.focus(); f.value = 'open'; f.setSelectionRange(2, 3); })()`);
  appears('further');
  await until(`${rows} === 3`, 'the row of a third episode');
  await expect(`document.activeElement.name === 'words' && document.activeElement.value === 'open'`, 'the field with its words');
  await expect(`document.activeElement.selectionStart === 2 && document.activeElement.selectionEnd === 3`, 'the caret where it was');
  await expect(`document.querySelectorAll('thead th')[5].getAttribute('aria-sort') === 'ascending'`, 'the order of the rows');
  await run(`document.querySelectorAll('table.sortable thead button')[5].focus()`);
  appears('last');
  await until(`${rows} === 4`, 'the row of a fourth episode');
  await expect(`document.activeElement === document.querySelectorAll('table.sortable thead button')[5]`, 'the keyboard on the heading');
  await to('Page.removeScriptToEvaluateOnNewDocument', { identifier });
}

async function main() {
  const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
  ({ sessionId: session } = await send('Target.attachToTarget', { targetId, flatten: true }));
  listeners.push(({ method, params }) => {
    if (method === 'Network.requestWillBeSent' && new URL(params.request.url).origin !== origin) fail(`a request for ${params.request.url}`);
    if (method === 'Runtime.consoleAPICalled') fail(`console: ${JSON.stringify(params.args)}`);
    if (method === 'Runtime.exceptionThrown') fail(`exception: ${params.exceptionDetails.text}`);
    if (method === 'Log.entryAdded' && !params.entry.url?.endsWith('/favicon.ico')) fail(`log: ${params.entry.text} ${params.entry.url ?? ''}`);
    if (method === 'Page.javascriptDialogOpening') fail(`a dialog: ${params.message}`);
  });
  for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await send(`${domain}.enable`, {}, session);

  await open('index.html');
  await shots('directories');
  for (const page of ['index.html', '1.html', 'search.html?q=planted']) {
    await open(`e/planted~one/${page}`);
    await run(`document.querySelectorAll('details').forEach((one) => { one.open = true; })`);
    await expect(`document.querySelectorAll('main img, main iframe, main script, main a[href^="javascript:"]').length === 0`, 'no planted element');
    await shots(`planted-${page.split('.')[0]}`);
  }
  // The planted episode has not ended: its row has fewer cells than there are headings.
  await open('x/planted.html');
  await run(`document.querySelectorAll('table.sortable thead button').forEach((one) => one.click())`);
  await expect(`document.querySelectorAll('table.sortable tbody tr').length === 1`, 'the row after sorting');
  await live();
  await open('index.html');
  await leads(() => run(`document.querySelector('tbody th a:not([href*="planted"])').click()`));
  await shots('results');
  for (const heading of ['return', 'tokens']) {
    const place = await run(`[...document.querySelectorAll('table.sortable thead th')].findIndex((one) => one.textContent === '${heading}')`);
    await run(`document.querySelectorAll('table.sortable thead button')[${place}].click()`);
    const values = `[...document.querySelectorAll('table.sortable tbody tr')].map((row) => row.cells[${place}]?.dataset.value).filter(Boolean).map(Number)`;
    await expect(`2 < ${values}.length && ${values}.every((one, at, all) => at === 0 || all[at - 1] <= one)`, `cells sorted by ${heading}`);
  }
  await run(`(() => { const f = document.querySelector('input[name="words"]'); f.value = 'momentum blinded'; f.dispatchEvent(new Event('input', { bubbles: true })); })()`);
  await expect(`document.querySelectorAll('tbody tr:not([hidden])').length < document.querySelectorAll('tbody tr').length`, 'fewer rows after a filter');

  await leads(() => run(`document.querySelector('tbody tr:not([hidden]) a').click()`));
  await shots('episode');
  const episode = await run('location.href');
  await run(`(() => { const s = document.querySelector('#steps select'); s.value = s.options[s.options.length - 1].value; s.dispatchEvent(new Event('input', { bubbles: true })); })()`);
  await expect(`0 < document.querySelectorAll('#steps tbody tr:not([hidden])').length`, 'rows after choosing an outcome');

  await leads(() => run(`document.querySelector('ol.timeline a').click()`));
  await expect(`location.pathname.endsWith('/1.html')`, 'the first step');
  await leads(() => key('ArrowRight'));
  await expect(`location.pathname.endsWith('/2.html')`, 'the next step by key');
  await leads(() => key('ArrowLeft'));
  await expect(`location.pathname.endsWith('/1.html')`, 'the step before by key');
  await run(`document.querySelectorAll('.tool details').forEach((one) => { one.open = true; })`);
  await shots('step');
  await leads(() => key('u', 'u'));
  await expect(`location.href === ${JSON.stringify(episode)}`, 'the episode by key');

  await leads(() => run(`(() => { const f = document.querySelector('form.search'); f.q.value = 'rank'; f.requestSubmit(); })()`));
  await expect(`document.querySelector('ol.hits') !== null`, 'a list of hits');
  await shots('search');

  await open(episode);
  await leads(() => run(`document.querySelector('#beside form').requestSubmit()`));
  await expect(`location.pathname.endsWith('/compare.html')`, 'a comparison');
  await shots('compare');

  await open('index.html');
  await leads(() => run(`document.querySelector('tbody th a:not([href*="planted"])').click()`));
  const certificate = await run(`document.querySelector('a[href*="certificate/"]')?.href`);
  const board = await run(`document.querySelector('a[href*="board/"]')?.href`);
  if (certificate) {
    await open(certificate);
    await shots('certificate');
    await leads(() => run(`document.querySelector('a[href*="/answers~"]').click()`));
    await expect(`document.querySelectorAll('tbody tr').length > 1`, 'answers behind a bound');
    await shots('answers');
    await leads(() => run(`document.querySelector('tbody th a').click()`));
    await expect(`location.pathname.includes('/probe~')`, 'the probe of an answer');
    await shots('probe');
  }
  if (board) {
    await open(board);
    await shots('board');
    const first = () => run(`document.querySelector('#rows tbody tr').textContent`);
    const returns = `[...document.querySelectorAll('#rows tbody tr')].map((row) => row.cells[6].dataset.value).filter(Boolean).map(Number)`;
    await run(`document.querySelectorAll('#rows thead button')[6].click()`);
    await expect(`${returns}.every((one, place, all) => place === 0 || all[place - 1] <= one)`, 'rows sorted by return');
    const lowest = await first();
    await run(`document.querySelectorAll('#rows thead button')[6].click()`);
    if (lowest === await first()) fail('a second click on a heading does not turn the order');
    await run(`(() => { const s = document.querySelector('#rows select[name="mode"]'); s.value = s.options[1].value; s.dispatchEvent(new Event('input', { bubbles: true })); })()`);
    await expect(`document.querySelectorAll('#rows tbody tr:not([hidden])').length < document.querySelectorAll('#rows tbody tr').length`, 'fewer rows of one mode');
    await leads(() => run(`document.querySelector('#rows tbody tr:not([hidden]) a').click()`));
    await shots('tear-sheet');
    await leads(() => run(`document.querySelector('#episodes a').click()`));
    await expect(`document.querySelector('#exposures') !== null && document.querySelector('.nav-benchmark') !== null`, 'market and exposures of an episode');
    await shots('ranked-episode');
  }
}

main().catch((error) => fail(String(error))).finally(finish);
