import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { blocks, pages } from '../support/pages.ts';
import { run } from '../support/run.ts';
import { checkout, compose, composeArgs, docker, ownImage, serviceImages } from './docker.ts';

const guide = pages('docs/guides/compose.md')[0]?.text ?? '';
const commands = blocks(guide, 'console');
const [quotedStory = ''] = blocks(guide, 'text');
let up: Up | undefined;
after(() => up?.signal('SIGKILL'));

/** `docker compose up` in the foreground, as in a terminal. */
class Up {
  readonly #child: ChildProcess;
  readonly lines: string[] = [];
  /** Resolves when the command has ended, with its exit code or signal. */
  readonly ended: Promise<unknown[]>;
  readonly #storyEnded = Promise.withResolvers<void>();

  constructor() {
    const child = spawn('docker', [...composeArgs, 'up'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.#child = child;
    this.ended = once(child, 'close');
    for (const input of [child.stdout, child.stderr]) {
      createInterface({ input }).on('line', (line) => {
        this.lines.push(line);
        if (/story-1 exited with code/.test(line)) this.#storyEnded.resolve();
      });
    }
  }

  /** Signals `docker` and its compose plugin, as a terminal does: a Docker of 2022 does not forward signals to it. */
  signal(name: NodeJS.Signals): void {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, name);
  }

  /** Waits for the end of the service `story`. @returns what it wrote */
  async story(): Promise<string> {
    await Promise.race([this.#storyEnded.promise, this.ended]);
    const reported = this.lines.flatMap((line) => /^story-1 +\| (.*)$/.exec(line)?.[1] ?? []);
    return reported.join('\n');
  }
}

/** Removes what differs in each run: times, and suffixes that controllers append to names. */
const comparable = (text: string): string =>
  text.replace(/\d{4}-\d\d-\d\dT[\d:]+Z/g, 'TIME').replace(/\b(held|cilium)-[a-z0-9]{5}\b/g, '$1-NAME');

/** The containers that `docker compose ps` lists, as one JSON object per line. */
async function containers(): Promise<{ Service: string; State: string; ExitCode: number }[]> {
  const lines = (await compose('ps', '--all', '--format', 'json')).trim().split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}

test('every image except the one that is built here has a fixed tag', async () => {
  const images = (await serviceImages()).filter((image) => image !== ownImage);
  assert.ok(images.length > 0);
  for (const image of images) assert.match(image, /:v?\d+\.\d+\.\d+(-\d+)?$/);
});

test('docker compose up tells the story that the guide quotes, to its last line', async () => {
  up = new Up();
  const story = await up.story();
  assert.equal(comparable(story), comparable(quotedStory), up.lines.join('\n'));
});

test("the guide's commands do what it says", async () => {
  const [first, ...others] = commands;
  const last = others.pop();
  assert.equal(first, 'docker compose up');
  assert.equal(last, 'docker compose down --volumes');
  // outside of a terminal, bash has to be told to expand aliases
  const script = ['shopt -s expand_aliases', 'set -ex', ...others].join('\n');
  const said = await run('bash', ['-c', `cd "$1"\n${script}`, 'bash', checkout]);
  assert.match(said, /^shop +web-.* Running /m);
  assert.match(said, /FailedScheduling .* node node-1 is not ready for profile cilium/);
  assert.match(said, /pod\/held condition met/);
});

test('Ctrl-C stops the services, and the next up tells the story again', async () => {
  up?.signal('SIGINT');
  assert.deepEqual(await up?.ended, [130, null]);
  const gate = (await containers()).find(({ Service }) => Service === 'cni-gate');
  assert.deepEqual([gate?.State, gate?.ExitCode], ['exited', 0]);

  up = new Up();
  assert.equal(comparable(await up.story()), comparable(quotedStory), up.lines.join('\n'));
});

test('docker compose down leaves nothing but images', async () => {
  await compose('down', '--volumes');
  assert.equal(await docker('ps', '--all', '--quiet'), '');
  assert.equal(await docker('volume', 'ls', '--quiet'), '');
  const networks = (await docker('network', 'ls', '--format={{.Name}}')).trim().split('\n');
  assert.deepEqual(networks.sort(), ['bridge', 'host', 'none']);
});
