import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { suite, type TestContext, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { main } from '../../support/command.ts';
import { type Asked, json, startFakeApi } from '../../support/fake-api-server.ts';

/** A namespace that opted in, and a profile whose DaemonSet is missing: something to set off. */
function answer({ path }: Asked): [code: number, body: object] {
  const items =
    path === '/api/v1/namespaces'
      ? [
          {
            metadata: {
              name: 'shop',
              uid: 'u',
              resourceVersion: '1',
              labels: { 'cni-gate.io/profile': 'linkerd' },
            },
          },
        ]
      : [];
  // enough of an installation for its parts to be missed
  if (path.endsWith('/services/cni-gate')) return [200, { metadata: {}, spec: { ports: [{ port: 443 }] } }];
  // a single object
  if (/\/cni-gate[a-z-]*$|\.cni-gate\.io$/.test(path)) return [404, { kind: 'Status', reason: 'NotFound' }];
  if (path === '/version') return [200, { major: '1', minor: '36', gitVersion: 'v1.36.3' }];
  return [200, { metadata: { resourceVersion: '1' }, items }];
}

/** What `cni-gate status` prints: into a pipe, or on a terminal that is so wide. */
async function printed(
  t: TestContext,
  { columns, args = [], env = {} }: { columns?: number; args?: string[]; env?: NodeJS.ProcessEnv },
): Promise<string> {
  const { url } = await startFakeApi(t, (asked, response) => json(response, ...answer(asked)));
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const kubeconfig = join(folder, 'kubeconfig');
  const config = {
    clusters: [{ name: 'c', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    users: [{ name: 'u', user: {} }],
    'current-context': 'c',
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  const command = [process.execPath, main, 'status', '--kubeconfig', kubeconfig, ...args];
  const [program = '', ...rest] =
    columns === undefined
      ? command
      : ['script', '-qec', `stty cols ${columns}; exec ${command.join(' ')}`, '/dev/null'];
  const child = spawn(program, rest, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, HOME: folder, TERM: 'xterm', SHELL: '/bin/sh', ...env },
  });
  return (await text(child.stdout)).replaceAll('\r\n', '\n');
}

const isColoured = (shown: string): boolean => stripVTControlCharacters(shown) !== shown;
/** The first line is never broken: scripts look at it. */
const widest = (shown: string): number =>
  Math.max(
    ...stripVTControlCharacters(shown)
      .split('\n')
      .slice(1)
      .map((line) => line.length),
  );

interface Case {
  how: Parameters<typeof printed>[1];
  coloured: boolean;
  /** The widest line has between so many and so many columns. */
  columns?: [least: number, most: number];
}

suite('colour, and a width without a limit in a pipe, of COLUMNS, and of the terminal on one', () => {
  const cases: Record<string, Case> = {
    'none in a pipe': { how: {}, coloured: false, columns: [121, Number.POSITIVE_INFINITY] },
    'in a pipe with COLUMNS': { how: { env: { COLUMNS: '90' } }, coloured: false, columns: [71, 90] },
    'on a terminal with COLUMNS': {
      how: { columns: 60, env: { COLUMNS: '90' } },
      coloured: true,
      columns: [71, 90],
    },
    'with -o wide on a terminal': {
      how: { columns: 60, args: ['-o', 'wide'] },
      coloured: true,
      columns: [121, Number.POSITIVE_INFINITY],
    },
    'on a narrow terminal': { how: { columns: 60 }, coloured: true, columns: [41, 60] },
    'none with NO_COLOR, on a wide terminal': {
      how: { columns: 250, env: { NO_COLOR: '1' } },
      coloured: false,
      columns: [101, 250],
    },
    'none on a terminal that has none': { how: { columns: 100, env: { TERM: 'dumb' } }, coloured: false },
    'none in JSON': { how: { columns: 100, args: ['--output', 'json'] }, coloured: false },
    'in a pipe with FORCE_COLOR': { how: { env: { FORCE_COLOR: '1' } }, coloured: true },
    'none in JSON with FORCE_COLOR': {
      how: { args: ['--output', 'json'], env: { FORCE_COLOR: '1' } },
      coloured: false,
    },
  };
  for (const [name, { how, coloured, columns }] of Object.entries(cases)) {
    test(name, async (t) => {
      const shown = await printed(t, how);
      assert.match(shown.replaceAll(/\s+/g, ' '), /CNI_GATE_DAEMONSET_UNKNOWN/);
      assert.equal(isColoured(shown), coloured, shown);
      const [least, most] = columns ?? [0, Number.POSITIVE_INFINITY];
      const width = widest(shown);
      assert.ok(least <= width && width <= most, `${width}`);
    });
  }
});
