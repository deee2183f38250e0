// npm run demo: analyzes real H200 captures, then opens one of them in the browser.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const stepscope = 'bin/stepscope';
const capture = name => `test/fixtures/captures/${name}/profile.sqlite.gz`;

function run(...args) {
  process.stdout.write(`$ stepscope ${args.join(' ')}\n`);
  const { status, error } = spawnSync(process.execPath, [stepscope, ...args], { stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

run('analyze', capture('eager'));
run('steps', capture('graph'));
if (process.stdin.isTTY && process.stdout.isTTY) {
  // Ctrl-C goes to the command; this script ends with it.
  process.on('SIGINT', () => {});
  run('view', capture('eager'));
} else await showThatItAnswers();

/** Without a terminal: fetches the page and the timeline once, then stops the server. */
async function showThatItAnswers() {
  const args = ['view', capture('eager'), '--no-open', '--json'];
  process.stdout.write(`$ stepscope ${args.join(' ')}\n`);
  const server = spawn(process.execPath, [stepscope, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(server, 'exit');
  try {
    const line = await firstLine(server, ended);
    process.stdout.write(line);
    const { url, profiles } = JSON.parse(line).data;
    // The server answers only requests with its key.
    const { origin, searchParams } = new URL(url);
    const key = searchParams.get('token');
    const page = await answer(`${origin}/`, key);
    const timeline = await answer(`${origin}/api/profiles/${profiles[0].id}/timeline`, key);
    const { steps, tracks } = JSON.parse(timeline);
    process.stdout.write(
      `  the page: ${page.length} bytes; the timeline: ${tracks.length} tracks, ${steps.length} steps\n` +
        `  see it yourself: node ${stepscope} view ${capture('eager')}\n`,
    );
  } finally {
    server.kill();
  }
  const [status] = await ended;
  if (status !== 0) throw new Error(`view ended with ${status}`);
}

async function firstLine(server, ended) {
  const [chunk] = await Promise.race([
    once(server.stdout, 'data'),
    ended.then(([status]) => process.exit(status ?? 1)),
  ]);
  return String(chunk);
}

async function answer(url, key) {
  const response = await fetch(url, { headers: { Authorization: `Bearer ${key}` } });
  if (!response.ok) throw new Error(`${url} returned ${response.status}`);
  return response.text();
}
