import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../../support/run.ts';
import { programPath } from '../binaries/ensure.ts';
import type { Cluster } from '../harness/cluster.ts';

const checkout = fileURLToPath(new URL('../../../', import.meta.url));

/** Runs a command in a shell, by default in the checkout. @param path more folders to search for programs */
export function shell(
  cluster: Cluster,
  command: string,
  { folder = checkout, path = [], env = {} }: { folder?: string; path?: string[]; env?: object } = {},
): Promise<string> {
  const PATH = [dirname(programPath('kubectl')), ...path, process.env.PATH].join(':');
  const all = { ...process.env, KUBECONFIG: cluster.admin.kubeconfig, PATH, ...env };
  return run('bash', ['-euo', 'pipefail', '-c', `cd '${folder}'; ${command}`], '', all);
}

/** The lines of a guide's section that begin with `kubectl`. */
export function commandsOf(guide: string, section: RegExp): string[] {
  const [, part = ''] = readFileSync(`${checkout}docs/guides/${guide}.md`, 'utf8').split(section);
  const lines = (part.split(/^#/m)[0] ?? '').match(/^kubectl .*$/gm) ?? [];
  assert.ok(lines.length > 0, `no command in the guide ${guide}`);
  return lines;
}
