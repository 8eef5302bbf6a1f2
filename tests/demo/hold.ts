import { readFileSync, writeFileSync } from 'node:fs';
import { styleText } from 'node:util';
import type { AdmissionResponse } from '../../webhook/admission/review.ts';
import type { Ask } from './creation.ts';

const file = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

/** The cluster of the demo: its node is not ready. */
export const cluster = file('cluster.yaml');

/** The demo's cluster once the DaemonSet's pod is Ready. */
const later = cluster.replace('status: "False"', 'status: "True"').replace('ready: false', 'ready: true');

/** Shows a binding that is refused, and the same binding allowed once the DaemonSet's pod is Ready. */
export async function showHold(gate: Ask, state: string, reloaded: Promise<unknown>): Promise<boolean> {
  const binding: object = JSON.parse(file('../reviews/binding-deployment-web.json'));
  const ask = async (): Promise<AdmissionResponse | undefined> => (await gate(binding)).response;
  const say = (text: string): void => console.log(`\n${styleText('bold', text)}`);

  say('The scheduler binds a pod to node n1. Cilium is not ready there, so cni-gate refuses:');
  const refused = await ask();
  console.log(`  allowed: ${refused?.allowed}\n  ${refused?.status?.message}`);
  say("Cilium's pod on n1 becomes Ready. The scheduler tries again, and cni-gate admits:");
  writeFileSync(state, later);
  await reloaded;
  const allowed = await ask();
  console.log(`  allowed: ${allowed?.allowed}, reason: ${allowed?.auditAnnotations?.reason}`);
  return refused?.allowed === false && allowed?.allowed === true;
}
