// The browser's side of page_shots.sh.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launch } from './browser.mjs';

const [browser, profile, page, out] = process.argv.slice(2);
const url = pathToFileURL(page).href;
const DEADLINE_MS = 120_000;

const { fail, listeners, send, finish } = launch(browser, profile, DEADLINE_MS);

const WAYS = [
  { name: 'light', width: 1280, scheme: 'light' },
  { name: 'dark', width: 1280, scheme: 'dark' },
  { name: 'phone', width: 390, scheme: 'light', mobile: true },
  { name: 'narrow-dark', width: 360, scheme: 'dark', mobile: true },
  { name: 'wide', width: 1920, scheme: 'light' },
  { name: 'unfolded', width: 1280, scheme: 'light', unfolded: true },
];

// Runs in the page: texts of a picture that leave it or lie on each other.
const CHECK = `(() => {
  const found = [];
  const name = (element) => JSON.stringify(element.textContent);
  for (const svg of document.querySelectorAll('svg')) {
    const frame = svg.getBoundingClientRect();
    if (frame.width === 0) continue;
    const texts = [...svg.querySelectorAll('text')].map((element) => [element, element.getBoundingClientRect()]);
    const title = svg.getAttribute('aria-label');
    for (const [element, box] of texts) {
      const over = Math.max(frame.left - box.left, box.right - frame.right, frame.top - box.top, box.bottom - frame.bottom);
      if (1.5 < over) found.push('text ' + name(element) + ' leaves ' + title + ' by ' + over.toFixed(1));
    }
    for (const [place, [one, a]] of texts.entries()) {
      for (const [other, b] of texts.slice(place + 1)) {
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (1 < across && 4 < down) found.push('texts ' + name(one) + ' and ' + name(other) + ' overlap in ' + title);
      }
    }
  }
  return found;
})()`;

async function open(sessionId, way) {
  const to = (method, params) => send(method, params, sessionId);
  await to('Emulation.setDeviceMetricsOverride', {
    width: way.width, height: 900, deviceScaleFactor: 1, mobile: way.mobile ?? false,
  });
  await to('Emulation.setEmulatedMedia', { media: '', features: [{ name: 'prefers-color-scheme', value: way.scheme }] });
  const loaded = new Promise((resolve) => {
    listeners.push((message) => { if (message.method === 'Page.loadEventFired') resolve(); });
  });
  await to('Page.navigate', { url });
  await loaded;
  const run = async (expression) => (await to('Runtime.evaluate', { expression, returnByValue: true })).result.value;
  if (way.unfolded) await run('document.querySelectorAll("details").forEach((one) => { one.open = true; })');
  const { cssContentSize: size } = await to('Page.getLayoutMetrics');
  if (way.width < size.width) fail(`${way.name}: the page is ${size.width} wide on a screen of ${way.width}`);
  (await run(CHECK)).slice(0, 12).forEach((what) => fail(`${way.name}: ${what}`));
  // A screenshot has at most some thousand rows: one picture a part.
  const PART = 1600;
  for (let part = 0; part * PART < Math.min(size.height, 24 * PART); part += 1) {
    const clip = { x: 0, y: part * PART, width: way.width, height: Math.min(PART, size.height - part * PART), scale: 1 };
    const { data } = await to('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true, clip });
    writeFileSync(join(out, `${way.name}-${part}.png`), Buffer.from(data, 'base64'));
  }
}

async function main() {
  const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
  listeners.push(({ method, params }) => {
    if (method === 'Network.requestWillBeSent' && params.request.url !== url) fail(`a request for ${params.request.url}`);
    if (method === 'Runtime.consoleAPICalled') fail(`console: ${JSON.stringify(params.args)}`);
    if (method === 'Runtime.exceptionThrown') fail(`exception: ${params.exceptionDetails.text}`);
    if (method === 'Log.entryAdded') fail(`log: ${params.entry.text}`);
  });
  for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await send(`${domain}.enable`, {}, sessionId);
  await send('Emulation.setScriptExecutionDisabled', { value: true }, sessionId);
  for (const way of WAYS) await open(sessionId, way);
  await open(sessionId, { name: 'before-print', width: 1280, scheme: 'dark' });
  const { data } = await send('Page.printToPDF', { preferCSSPageSize: true, printBackground: false }, sessionId);
  writeFileSync(join(out, 'print.pdf'), Buffer.from(data, 'base64'));
}

main().catch((error) => fail(String(error))).finally(finish);
