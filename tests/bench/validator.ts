/**
 * `npm run bench:validator`: start to verdict and resident memory of the validator beside a bare `node -e 0`, in a
 * sandbox with linkerd's rules and the container that the webhook injects. Needs what the netns tests need.
 */
import { statSync } from 'node:fs';
import { startContainer } from '../netns/harness/container.ts';
import { requireMachine } from '../netns/harness/machine.ts';
import { specimens } from '../netns/harness/pods.ts';
import { startProof } from '../netns/harness/proof.ts';
import { Sandbox } from '../netns/harness/sandbox.ts';
import { writeRules } from '../netns/rules/backends.ts';
import { linkerd } from '../netns/rules/linkerd.ts';

const runs = 25;
const bundle = new URL('../../dist/validator/main.js', import.meta.url);

interface Figures {
  milliseconds: number;
  peakKiB: number;
}

const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

requireMachine();
await using sandbox = await Sandbox.make();
await writeRules(sandbox, linkerd());
const user = { user: 65_532, group: 65_532, environment: {}, mounts: {} };
const subjects: Record<string, () => Promise<Figures>> = {
  'node -e 0': () => startContainer(sandbox, { args: ['-e', '0'], ...user }).ended,
  'the same, printing its memory': () =>
    startContainer(sandbox, {
      args: ['-e', 'console.log(process.resourceUsage().maxRSS)'],
      ...user,
    }).ended.then((end) => ({ ...end, peakKiB: Number(end.log) })),
  'linkerd proved': () =>
    startProof(sandbox, specimens.linkerd).ended.then((proof) => {
      if (proof.code !== 0) throw new Error(proof.log);
      return proof;
    }),
};
const taken = new Map<string, Figures[]>(Object.keys(subjects).map((name) => [name, []]));
for (let run = 0; run < runs; run++) {
  for (const [name, start] of Object.entries(subjects)) taken.get(name)?.push(await start());
}
const bare = median((taken.get('node -e 0') ?? []).map((figures) => figures.milliseconds));
console.log(`Node ${process.version}; the bundle is ${statSync(bundle).size} bytes; medians of ${runs} runs`);
for (const [name, figures] of taken) {
  const milliseconds = median(figures.map((one) => one.milliseconds));
  const peak = median(figures.map((one) => one.peakKiB)) / 1024;
  console.log(
    `${name.padEnd(32)} ${milliseconds.toFixed(1).padStart(7)} ms  ${(milliseconds / bare).toFixed(2)}   ${peak.toFixed(0)} MiB`,
  );
}
