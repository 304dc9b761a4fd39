// The browser's side of viewer_shots.sh: drives every page of a running viewer as people will, by keys and clicks, and keeps
// pictures.
import { spawn } from 'node:child_process';
import { cpSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from './browser.mjs';

const [browser, profile, start, out, cells, axePath] = process.argv.slice(2);
// The text of axe-core, where npm could be reached: accessibility rules that a program can check.
const axe = axePath ? readFileSync(axePath, 'utf8') : '';
const origin = new URL(start).origin;
const DEADLINE_MS = 1_200_000;
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
  // A press that leads nowhere is found, and not waited for.
  let late;
  const given = new Promise((_, reject) => { late = setTimeout(() => reject(new Error('nothing was opened in a minute')), 60000); });
  await Promise.race([loaded, given]);
  clearTimeout(late);
}

const open = (address) => leads(() => to('Page.navigate', { url: new URL(address, start).href }));

// Keys that do something of the browser's own need their numbers.
const NUMBERS = { Enter: [13, '\r'], Tab: [9], Escape: [27] };

async function key(name, own) {
  const [windowsVirtualKeyCode, text = own] = NUMBERS[name] ?? [];
  await to('Input.dispatchKeyEvent', { type: 'keyDown', key: name, text, windowsVirtualKeyCode });
  await to('Input.dispatchKeyEvent', { type: 'keyUp', key: name, windowsVirtualKeyCode });
}

/** What the rules of axe-core find seriously wrong on the page as it stands. */
async function accessible(name) {
  if (axe === '') return;
  await run(`${axe}; true`);
  const expression = `axe.run(document, { iframes: false, resultTypes: ['violations'] }).then(({ violations }) => violations
    .filter((one) => ['serious', 'critical'].includes(one.impact))
    .map((one) => one.id + ' at ' + one.nodes.slice(0, 3).map((node) => node.target.join(' ')).join(', ')))`;
  const { result } = await to('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
  if (!Array.isArray(result.value)) fail(`${name}: axe did not run: ${JSON.stringify(result)}`);
  for (const finding of result.value ?? []) fail(`${name}: axe: ${finding}`);
}

async function shots(name, runsScripts = true) {
  for (const width of WIDTHS) {
    for (const scheme of ['light', 'dark']) {
      await to('Emulation.setDeviceMetricsOverride', { width, height: 900, deviceScaleFactor: 1, mobile: width < 500 });
      await to('Emulation.setEmulatedMedia', { media: '', features: [{ name: 'prefers-color-scheme', value: scheme }] });
      const { cssContentSize: size } = await to('Page.getLayoutMetrics');
      if (width < size.width) fail(`${name} at ${width}: the page is ${size.width} wide`);
      const clip = { x: 0, y: 0, width, height: Math.min(2400, size.height), scale: 1 };
      const { data } = await to('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true, clip });
      writeFileSync(join(out, `${name}-${width}-${scheme}.png`), Buffer.from(data, 'base64'));
      if (runsScripts && (width === WIDTHS[0]) === (scheme === 'light') && width !== 1024) await accessible(`${name} at ${width} in ${scheme}`);
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
  await expect(`document.querySelector('.live').hidden === true`, 'no mark of a live page while nobody runs it');
  // As a run does, it holds the lock of the results.
  const running = spawn('flock', ['--no-fork', join(cells, '..', 'lock'), 'sleep', '600'], { stdio: 'ignore' });
  await until(`document.querySelector('.live').hidden === false`, 'the mark of a live page');
  running.kill();
  await until(`document.querySelector('.live').hidden === true`, 'no mark of a live page when the run has ended');
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

const focused = `(document.activeElement?.getAttribute('href') ?? '')`;

/** Presses a key until the keyboard is on a link to an address that holds `part`. */
async function reach(name, text, part) {
  for (let tries = 0; tries < 200; tries += 1) {
    await key(name, text);
    if (await run(`${focused}.includes(${JSON.stringify(part)})`)) return;
  }
  fail(`no link to ${part} by ${name} at ${await run('location.href')}`);
}

/** From the first page to an order, a hit, a bound and a tear sheet, without a mouse. */
async function byKeyboard(experiment, hasDocuments) {
  await open('index.html');
  await key('?', '?');
  await expect(`document.getElementById('keys').open`, 'the keys after ?');
  await shots('keys');
  await key('Escape');
  await expect(`!document.getElementById('keys').open`, 'no keys after Esc');
  await reach('j', 'j', experiment);
  await leads(() => key('Enter'));
  await key('/', '/');
  await to('Input.insertText', { text: 'momentum blinded' });
  await key('Escape');
  await expect(`document.activeElement === document.body`, 'no field after Esc');
  await key('j', 'j');
  const row = await run(focused);
  await key('j', 'j');
  await key('k', 'k');
  if (row === '' || row !== await run(focused)) fail(`j and k lead from ${row} to ${await run(focused)}`);
  await leads(() => key('Enter'));
  await reach('j', 'j', '1.html');
  await leads(() => key('Enter'));
  await until(`location.pathname.endsWith('1.html')`, 'a step');
  await key('j', 'j');
  await expect(`document.activeElement.matches('details.tool > summary')`, 'the keyboard on a call');
  await key('Enter');
  await expect(`document.activeElement.parentElement.open`, 'an unfolded call');
  await key('Escape');
  await expect(`!document.querySelector('details.tool[open]')`, 'a folded call');
  await key('e', 'e');
  await expect(`!document.querySelector('details.tool:not([open])')`, 'all calls unfolded');
  await leads(() => key('u', 'u'));
  await key('/', '/');
  await to('Input.insertText', { text: 'rank' });
  await leads(() => key('Enter'));
  await key('j', 'j');
  await leads(() => key('Enter'));
  await until(`document.querySelector('nav.steps') !== null`, 'the step of a hit');
  await leads(() => key('h', 'h'));
  if (!hasDocuments) return;
  for (const [document, behind] of [['certificate/', '/answers~'], ['board/', '.html']]) {
    await open(experiment);
    await reach('Tab', undefined, document);
    await leads(() => key('Enter'));
    await reach('j', 'j', behind);
    await leads(() => key('Enter'));
    await leads(() => key('u', 'u'));
  }
}

/** Two episodes of two experiments, one chosen by its box and one by key, side by side. */
async function chosen(experiment) {
  const status = `document.querySelector('header.top [role="status"]').textContent`;
  await open(experiment);
  await run(`document.querySelector('tbody input.choose').click()`);
  const first = await run(`document.querySelector('tbody input.choose').value`);
  await expect(`${status}.includes(${JSON.stringify(first)}) && !document.querySelector('a[data-key="beside"]')`, 'one chosen episode');
  await open('x/planted.html');
  await key('j', 'j');
  await key('c', 'c');
  const second = await run(`document.querySelector('tbody input.choose:checked').value`);
  await shots('chosen');
  await leads(() => key('b', 'b'));
  for (const slug of [first, second]) await expect(`document.querySelector('main a[href="e/${slug}/index.html"]') !== null`, `${slug} side by side`);
  await shots('compare-experiments');
  await run(`document.querySelector('header.top [role="status"] button').click()`);
  await expect(`${status} === ''`, 'nothing chosen');
}

const DAY = String.raw`/(19|20)\d\d-\d\d/`;

/** A tear sheet of a masked row: what its readers look for, and days behind the switch alone. */
async function masked(board) {
  await open(board);
  await expect(`!${DAY}.test(document.querySelector('main').textContent)`, 'no day of a masked row');
  await leads(() => run(`document.querySelector('.switch a').click()`));
  await expect(`${DAY}.test(document.querySelector('main details[open]').textContent)`, 'days of windows behind the switch');
  await open(board);
  await leads(() => run(`document.querySelector('#rows tr[data-mask^="blinded"] a').click()`));
  for (const section of ['months', 'rolling', 'falls', 'spread']) {
    await expect(`document.querySelector('#${section} :is(table, svg, .nothing)') !== null`, `a section ${section}`);
  }
  await expect(`!${DAY}.test(document.querySelector('main').textContent)`, 'no day on a masked tear sheet');
  await shots('tear-sheet-masked');
  await leads(() => run(`document.querySelector('.switch a').click()`));
  await expect(`${DAY}.test(document.querySelector('#months').textContent)`, 'months behind the switch');
}

/** Reports of every kind that lies there, each in the frame and alone, and what they link to. */
async function reports() {
  await open('index.html');
  const studies = await run(`[...document.querySelectorAll('main a[href^="s/"][href$="/index.html"]')].map((one) => one.href)`);
  for (const study of studies) {
    const name = study.split('/').at(-2).replaceAll('~', '-');
    await open(study);
    await shots(`study-${name}`);
    if (await run(`document.querySelector('iframe') !== null`)) await report(new URL('report.html', study).href, `report-${name}`);
  }
}

async function report(address, name) {
  // A report is served where no script runs, and axe is one: it looks at the same text in a page of the viewer's own.
  const { frameTree: { frame } } = await to('Page.getFrameTree');
  await to('Page.setBypassCSP', { enabled: true });
  await open('index.html');
  await to('Page.setDocumentContent', { frameId: frame.id, html: await (await fetch(address)).text() });
  await accessible(name);
  await to('Page.setBypassCSP', { enabled: false });
  await open(address);
  await shots(name, false);
  await expect(`['cite', 'files'].every((id) => document.getElementById(id) !== null && document.querySelector('nav a[href="#' + id + '"]') !== null)`, 'the frame of a report');
  await expect(`[...document.querySelectorAll('table')].every((one) => one.tBodies[0]?.rows.length !== 0)`, 'no empty table');
  await expect(`[...document.querySelectorAll('caption')].every((one) => !one.checkVisibility() || 200 < one.offsetWidth)`, 'captions that are not broken into words');
  await expect(`![...document.querySelectorAll('ul.notes li')].some((one) => /[:\\d] [a-z]+_[a-z_]+$/.test(one.textContent))`, 'reasons in words');
  const csv = await run(`document.querySelector('#files a[href$=".csv"]')?.href`);
  if (csv) {
    await open(csv);
    await expect(`document.contentType === 'text/plain' && document.body.textContent.includes(',')`, 'the rows of a table');
  }
}

/** The first table of a board fits, and the picture of its ranks is what follows. */
async function front(address) {
  await report(address, 'board-own');
  await open(address);
  await expect(`[...document.querySelectorAll('caption, summary, .verdict')].every((one) => !${DAY}.test(one.textContent))`, 'no day of a masked window');
  await expect(`(() => { const box = document.querySelector('section .scroll'); return box.scrollWidth <= box.clientWidth; })()`, 'a first table that fits');
  await expect(`(() => {
    const seen = [...document.querySelectorAll('section :is(table, svg, .nothing)')].filter((one) => one.checkVisibility());
    return seen[0].matches('table') && !seen[1].matches('table');
  })()`, 'the picture of the ranks after the first table');
}

async function main() {
  const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
  ({ sessionId: session } = await send('Target.attachToTarget', { targetId, flatten: true }));
  listeners.push(({ method, params }) => {
    if (method === 'Network.requestWillBeSent' && new URL(params.request.url).origin !== origin) fail(`a request for ${params.request.url}`);
    if (method === 'Runtime.consoleAPICalled') fail(`console: ${JSON.stringify(params.args)}`);
    if (method === 'Runtime.exceptionThrown') fail(`exception: ${params.exceptionDetails.text} ${params.exceptionDetails.exception?.description ?? ''}`);
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
  await leads(() => run(`document.querySelector('a[href^="x/"]:not([href*="planted"])').click()`));
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
  await shots('step-folded');
  const call = await run(`document.querySelector('details.outline ol ol a').hash`);
  await run(`document.querySelector('details.outline ol ol a').click()`);
  await expect(`document.querySelector(${JSON.stringify(call)}).checkVisibility()`, 'a call that its link unfolds');
  await leads(() => key('ArrowRight'));
  await expect(`location.pathname.endsWith('/2.html')`, 'the next step by key');
  await leads(() => key('ArrowLeft'));
  await expect(`location.pathname.endsWith('/1.html')`, 'the step before by key');
  await run(`document.querySelectorAll('details.tool, details.tool details').forEach((one) => { one.open = true; })`);
  await shots('step');
  await leads(() => key('u', 'u'));
  await expect(`location.href === ${JSON.stringify(episode)}`, 'the episode by key');

  await leads(() => run(`(() => { const f = document.querySelector('form.search'); f.q.value = 'rank'; f.requestSubmit(); })()`));
  await expect(`document.querySelector('ol.hits') !== null`, 'a list of hits');
  await shots('search');
  await leads(() => run(`(() => { const f = document.querySelector('form.search'); f.q.value = 'momentum'; f.requestSubmit(); })()`));
  await expect(`document.querySelector('ol.hits li mark')?.textContent.toLowerCase() === 'momentum'`, 'hits of other words');

  await open(episode);
  await leads(() => run(`document.querySelector('#beside form').requestSubmit()`));
  await expect(`location.pathname.endsWith('/compare.html')`, 'a comparison');
  await shots('compare');

  await open('index.html');
  await leads(() => run(`document.querySelector('a[href^="x/"]:not([href*="planted"])').click()`));
  const experiment = await run(`location.pathname.slice(1)`);
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
    await masked(board);
    await front(new URL(board.replace('.html', '/index.html')).href);
  }
  await chosen(experiment);
  await byKeyboard(experiment, Boolean(certificate && board));
  await reports();
}

main().catch((error) => fail(String(error))).finally(finish);
