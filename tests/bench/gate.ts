/**
 * Part of `npm run bench`: what the gate's decision costs beside parsing its review, in a cluster of 5,000 nodes with
 * a DaemonSet pod on each, and what it costs to keep the readiness of these nodes.
 */

import { readFileSync } from 'node:fs';
import { decidePlacement } from '../../webhook/admission/gate/decide.ts';
import { decodePlacement } from '../../webhook/admission/gate/placement.ts';
import { defaultConfiguration } from '../../webhook/config/load.ts';
import { Policy } from '../../webhook/config/policy.ts';
import { Evidence } from '../../webhook/nodes/evidence/evidence.ts';
import { Readiness } from '../../webhook/nodes/readiness/readiness.ts';
import { toAgentFacts, toDaemonSetFacts, toNodeFacts } from '../../webhook/nodes/readiness/to-facts.ts';
import { apiAgent, apiDaemonSet, apiNode, now } from '../unit/nodes/readiness/objects.ts';

const nodes = 5000;
const body = readFileSync(new URL('../reviews/binding-deployment-web.json', import.meta.url), 'utf8');
const ref = { namespace: 'net', name: 'agent' };

/** Half and the slowest percent of many calls, in microseconds. */
function percentiles(call: (index: number) => void): { p50: number; p99: number } {
  for (let warm = 0; warm < 5000; warm++) call(warm);
  const took = Array.from({ length: 20_000 }, (_, index) => {
    const start = process.hrtime.bigint();
    call(index);
    return Number(process.hrtime.bigint() - start) / 1000;
  }).toSorted((a, b) => a - b);
  return { p50: took[10_000] ?? Number.NaN, p99: took[19_800] ?? Number.NaN };
}

function cluster(): Readiness {
  const readiness = new Readiness();
  readiness.apply({ kind: 'daemonset', facts: toDaemonSetFacts(apiDaemonSet('agent')) }, now);
  for (let index = 0; index < nodes; index++) {
    const name = `n${index}`;
    readiness.apply({ kind: 'node', facts: toNodeFacts(apiNode(name, 'b1', 1)), listed: true }, now);
    const options = { ready: index % 50 !== 0, containers: [`containerd://${index}`] };
    readiness.apply({ kind: 'agent', facts: toAgentFacts(apiAgent(name, options)) }, now);
  }
  return readiness;
}

/** Prints the figures. */
export function gateBench(): void {
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  const start = performance.now();
  const readiness = cluster();
  const took = performance.now() - start;
  globalThis.gc?.();
  const bytes = process.memoryUsage().heapUsed - before;
  const configuration = defaultConfiguration();
  configuration.profiles = [
    { name: 'mesh', when: {}, daemonSets: [ref], annotations: {}, proof: { checks: [] } },
  ];
  const policy = new Policy(configuration);
  const pod = { profiles: ['mesh'], heldSince: undefined, group: 'g1' };
  const placements = Array.from({ length: nodes }, (_, index) => {
    const placement = decodePlacement(JSON.parse(body));
    return { ...placement, node: `n${index}` };
  });
  const view = { readiness, notSynced: () => false, notObservedSince: () => false, evidence: new Evidence() };
  const parse = percentiles(() => JSON.parse(body));
  const decide = percentiles((index) => {
    const placement = placements[index % nodes];
    if (placement) decidePlacement(placement, pod, view, policy, now);
  });
  const line = (what: string, { p50, p99 }: { p50: number; p99: number }): void =>
    console.log(
      `${what.padEnd(40)} p50 ${p50.toFixed(1)} us, p99 ${p99.toFixed(1)} us   ${(p50 / parse.p50).toFixed(2)}`,
    );
  console.log(
    `readiness of ${nodes} nodes, a pod on each     taken in ${took.toFixed(0)} ms; heap ${(bytes / 2 ** 20).toFixed(1)} MiB${globalThis.gc ? '' : ' (before collection)'}`,
  );
  line(`parse a review of ${body.length} bytes`, parse);
  line('decide about a placement', decide);
}
