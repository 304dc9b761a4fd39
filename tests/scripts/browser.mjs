// A headless browser that scripts drive: speaks the DevTools protocol over a pipe, so that it needs no package.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** How many processes of a group run; one that has ended and that nobody has waited for yet runs no more. */
function running(group) {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).filter((pid) => {
    let stat;
    try {
      stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    } catch {
      return false;
    }
    // The name of a program, in parentheses, may hold anything: the fields after it are state, parent, group.
    const [state, , own] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(own) === group && state !== 'Z' && state !== 'X';
  }).length;
}

/**
 * Starts it. `send` asks it something; `listeners` are called with each of its events; `fail` notes what was found; `finish` ends it
 * and this process, with exit code 1 where anything was found or the deadline passed.
 */
export function launch(browser, profile, deadlineMs) {
  const child = spawn(browser, [
    '--headless=new', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--disable-dev-shm-usage',
    '--disable-background-networking', '--disable-component-update', '--no-first-run', '--disable-sync', '--disable-breakpad', '--disable-crash-reporter',
    `--user-data-dir=${profile}`, '--remote-debugging-pipe', 'about:blank',
  ], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], detached: true });
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

  // Helpers of the browser, which are in its process group, may outlive it for a moment.
  async function helpersGone() {
    for (let tries = 0; tries < 200; tries += 1) {
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        return;
      }
      if (running(child.pid) === 0) return;
      await new Promise((resolve) => { setTimeout(resolve, 50); });
    }
    fail('processes of the browser are left behind');
  }

  async function finish() {
    isEnding = true;
    clearTimeout(late);
    // The profile is removed by whoever made it: only after the browser has let go of it.
    child.kill();
    await gone;
    await helpersGone();
    findings.forEach((finding) => console.error(`found: ${finding}`));
    console.log(findings.length === 0 ? 'nothing found' : `${findings.length} found`);
    process.exit(findings.length === 0 ? 0 : 1);
  }

  return { fail, listeners, send, finish };
}
