/**
 * `npm run demo`: starts the real server on loopback with a certificate made for the occasion, and without a cluster:
 * `tests/demo/cluster.yaml` stands for one. Sends reviews that a real API server once sent, over TLS as it would; shows
 * each pod before and after, and a binding that is refused and then allowed; and stops.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { styleText } from 'node:util';
import { pino } from 'pino';
import { selfMadeCertificate } from '../../certs/sources.ts';
import { remote } from '../../webhook/review/ask/remote.ts';
import { painter, textOutput } from '../../webhook/review/output/text.ts';
import { Progress } from '../../webhook/review/progress.ts';
import { review } from '../../webhook/review/run.ts';
import { summarize } from '../../webhook/review/summary.ts';
import { serve } from '../../webhook/server/serve.ts';
import { cluster, showHold } from './hold.ts';

/** What is shown, and what to look at in it. */
const acts: [file: string, text: string][] = [
  [
    'pod-deployment-web',
    "A Deployment's pod that is not meshed: linkerd promises it nothing, Cilium an address and a gateway.",
  ],
  ['pod-meshed', 'A pod that linkerd injected: the proof goes before its validator and its native sidecar.'],
  ['pod-multi-homed', 'A pod with a network of Multus: its interfaces are proved as well.'],
  ['pod-host-networked', "A pod on the node's own network: left alone."],
];

const profile = 'cilium.linkerd.multus';

const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
const clusterState = join(folder, 'cluster.yaml');
writeFileSync(clusterState, cluster);
const reloaded = Promise.withResolvers<void>();
// nobody reads the log but for this
const write = (line: string): void => {
  const { msg, source } = JSON.parse(line);
  if (msg === 'reloaded' && source === 'cluster-state') reloaded.resolve();
};
const server = await serve({
  log: pino({}, { write }),
  profile,
  clusterState,
  host: '127.0.0.1',
  port: 0,
  opsPort: 0,
  drainDelay: 0,
  drainTimeout: 1000,
  certificate: (events) => selfMadeCertificate(['localhost', '127.0.0.1'], 1, events),
});
const origin = `https://127.0.0.1:${server.port}`;
console.log(`serving on ${origin}, every namespace has the label cni-gate.io/profile: ${profile}`);
try {
  const ca = join(folder, 'ca.crt');
  writeFileSync(ca, server.certificate.authority ?? '');
  const admission = remote({ url: `${origin}/mutate`, ca, timeout: 10_000 });
  for (const [name, text] of acts) {
    console.log(`\n${styleText('bold', text)}`);
    const file = relative('.', new URL(`../reviews/${name}.json`, import.meta.url).pathname);
    const progress = new Progress(process.stderr);
    const report = await review({ names: [file], namespace: 'default', admission, progress });
    const summary = summarize(report);
    console.log(textOutput(report, summary, { paint: painter(process.stdout.isTTY === true) }));
    // CI runs the demo too: it must not end well when nothing was shown
    if (summary.workloads !== 1 || summary.refused > 0) process.exitCode = 1;
  }
  const gate = remote({ url: `${origin}/gate`, ca, timeout: 10_000 });
  if (!(await showHold(gate, clusterState, reloaded.promise))) process.exitCode = 1;
} finally {
  await server.drain();
  rmSync(folder, { recursive: true });
}
console.log('stopped');
