// A headless browser that scripts drive: speaks the DevTools protocol over a pipe, so that it needs no package.
import { spawn } from 'node:child_process';

/**
 * Starts it. `send` asks it something; `listeners` are called with each of its events; `fail` notes what was found; `finish` ends it
 * and this process, with exit code 1 where anything was found or the deadline passed.
 */
export function launch(browser, profile, deadlineMs) {
  const child = spawn(browser, [
    '--headless=new', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--disable-dev-shm-usage',
    '--disable-background-networking', '--disable-component-update', '--no-first-run', '--disable-sync',
    `--user-data-dir=${profile}`, '--remote-debugging-pipe', 'about:blank',
  ], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
  const late = setTimeout(() => { fail('the browser did not answer in time'); finish(); }, deadlineMs);

  const findings = [];
  const fail = (what) => findings.push(what);
  const waiting = new Map();
  let isEnding = false;
  const gone = new Promise((resolve) => { child.once('exit', resolve); child.once('error', resolve); });
  gone.then(() => {
    if (isEnding) return;
    fail('the browser ended by itself');
    waiting.forEach(({ reject }) => reject(new Error('the browser ended by itself')));
    finish();
  });
  const listeners = [];
  child.stdio[3].on('error', () => {});
  let number = 0;
  let text = '';
  child.stdio[4].on('data', (bytes) => {
    text += bytes;
    for (let end = text.indexOf('\0'); end !== -1; end = text.indexOf('\0')) {
      const message = JSON.parse(text.slice(0, end));
      text = text.slice(end + 1);
      if (message.id === undefined) {
        listeners.forEach((listener) => listener(message));
      } else {
        const { resolve, reject } = waiting.get(message.id);
        message.error ? reject(new Error(message.error.message)) : resolve(message.result);
      }
    }
  });

  function send(method, params = {}, sessionId) {
    number += 1;
    const id = number;
    if (child.exitCode !== null || child.signalCode !== null) return Promise.reject(new Error('the browser has ended'));
    child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
  }

  async function finish() {
    isEnding = true;
    clearTimeout(late);
    // The profile is removed by whoever made it: only after the browser has let go of it.
    child.kill();
    await gone;
    findings.forEach((finding) => console.error(`found: ${finding}`));
    console.log(findings.length === 0 ? 'nothing found' : `${findings.length} found`);
    process.exit(findings.length === 0 ? 0 : 1);
  }

  return { fail, listeners, send, finish };
}
