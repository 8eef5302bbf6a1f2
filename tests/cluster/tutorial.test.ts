import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';

/* Runs the commands of the tutorial in one shell, and compares their output with that in the tutorial. */

const checkout = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(join(checkout, 'docs/guides/tutorial.md'), 'utf8');
const [open = '', ...steps] = stepsOf(page);

interface Step {
  commands: string;
  shown: string[];
}

function stepsOf(markdown: string): [string, ...Step[]] {
  const found: Step[] = [];
  for (const [, language, body = ''] of markdown.matchAll(/^```(console|text)\n([\s\S]*?)\n```$/gm)) {
    if (language === 'console') found.push({ commands: body, shown: [] });
    else found.at(-1)?.shown.push(...body.split('\n'));
  }
  const [first, ...others] = found;
  return [first?.commands ?? '', ...others];
}

/** A shell loop that repeats a command until it succeeds. If it never does, the next step shows what is missing. */
const isThere = (command: string): string =>
  `for attempt in $(seq 300); do ${command} >&2 && break; sleep 0.2; done`;

/** What the tutorial's reader waits for before a step. `part` identifies the step by its commands. */
const seenBefore: [part: RegExp, wait: string][] = [
  // a second passes, so that the pods' creation times differ and one pod is older
  [/^agent=/, 'sleep 1.1'],
  [
    /^npx cni-gate status$/,
    isThere(
      'kubectl -n shop wait pod --field-selector status.phase=Pending --for condition=PodScheduled=false',
    ),
  ],
  [
    /reason=Recreated/,
    `${isThere('kubectl -n shop get events --field-selector reason=Recreated,involvedObject.kind=Deployment -o name | grep .')}
kubectl -n shop rollout status deployment/web >&2`,
  ],
];

const waitBefore = (commands: string): string => seenBefore.find(([part]) => part.test(commands))?.[1] ?? ':';

const mark = '== the next step';

/** Removes from a line what differs in each run: names of pods, times, and widths of columns. */
const normal = (line: string): string =>
  line
    .replace(/\b(web|cilium)(-[a-z0-9]{1,10})?-[a-z0-9]{5}\b/g, '$1-POD')
    .replace(/ \d+s(?= |$)/g, ' AGE')
    .replace(/ +/g, ' ')
    .trimEnd();

/** Runs the first command with the others as its standard input. @returns `outputs`: what each step wrote to stdout */
async function followed(): Promise<{ code: number | null; outputs: string[]; all: string }> {
  const programs = mkdtempSync(join(tmpdir(), 'tutorial-'));
  // this stand-in for sudo skips `-E` and runs the command
  writeFileSync(join(programs, 'sudo'), '#!/bin/sh\nwhile [ "$1" = -E ]; do shift; done\nexec "$@"\n');
  chmodSync(join(programs, 'sudo'), 0o755);
  const input = steps
    .map(({ commands }) => `${waitBefore(commands)}\necho '${mark}'\n${commands}\n`)
    .join('');
  const child = spawn('bash', ['-c', open], {
    cwd: checkout,
    stdio: 'pipe',
    env: {
      ...process.env,
      NO_COLOR: '1',
      COLUMNS: '100',
      npm_config_loglevel: 'error',
      PATH: `${programs}:${process.env.PATH}`,
    },
  });
  child.stdin.on('error', () => {}).end(input);
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, outputs: output.split(`${mark}\n`).slice(1), all: output + errors };
}

suite('the tutorial, from top to bottom', () => {
  test('each block prints the lines that the page shows, in that order', async () => {
    const { code, outputs, all } = await followed();
    assert.equal(code, 0, all);
    assert.equal(outputs.length, steps.length, all);
    for (const [index, { commands, shown }] of steps.entries()) {
      const lines = (outputs[index] ?? '').split('\n').map(normal);
      let from = 0;
      for (const line of shown) {
        const at = lines.indexOf(normal(line), from);
        assert.ok(at >= 0, `${commands}\ndoes not print\n${line}\nbut\n${lines.slice(from).join('\n')}`);
        from = at + 1;
      }
    }
  });
});
