/**
 * Part of `npm run bench`: the processor time of `review` with 2,000 files, for each output beside JSON. The text output
 * compares manifests: it may take twice as long.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [files, rounds] = [2000, 3];
const main = fileURLToPath(new URL('../../webhook/main.ts', import.meta.url));

const deployment = (name: string): string => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
spec:
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:
      containers:
        - name: web  # the only one
          image: registry.example/${name}:1.0
          ports: [{containerPort: 8080}]
`;

/** Seconds of processor time, of user and system. */
function seconds(folder: string, output: string): number {
  const { status, stderr } = spawnSync(
    'bash',
    [
      '-c',
      'TIMEFORMAT="%U %S"; time node "$@" > /dev/null',
      'bash',
      ...[main, 'review', folder, '--profile', 'cilium', '--output', output],
    ],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`review ended with ${status}: ${stderr}`);
  const [user = Number.NaN, system = Number.NaN] = stderr.trim().split(/\s+/).slice(-2).map(Number);
  return user + system;
}

/** Prints the median of the rounds. All outputs take turns in a round. */
export function reviewBench(): void {
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-bench-'));
  try {
    for (let index = 0; index < files; index++)
      writeFileSync(join(folder, `${index}.yaml`), deployment(`web-${index}`));
    const outputs = ['json', 'text', 'yaml'];
    const measured = Array.from({ length: rounds }, () => outputs.map((output) => seconds(folder, output)));
    for (const [column, output] of outputs.entries()) {
      const ratios = measured.map((round) => (round[column] ?? Number.NaN) / (round[0] ?? Number.NaN));
      const times = measured.map((round) => round[column] ?? Number.NaN);
      const median = (all: number[]): number => all.toSorted((a, b) => a - b)[rounds >> 1] ?? Number.NaN;
      console.log(
        `review of ${files} files, ${output.padEnd(4)}          ${median(times).toFixed(2)} s    ${median(ratios).toFixed(2)}`,
      );
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}
