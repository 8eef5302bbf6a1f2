import { setTimeout as sleep } from 'node:timers/promises';
import type { PodSpecimen } from '../harness/pods.ts';
import { type Proof, type ProofOptions, type RunningProof, startProof } from '../harness/proof.ts';
import { Sandbox } from '../harness/sandbox.ts';
import type { Shape } from '../harness/shape.ts';

/** The rows of the table: faults of a pod's network. */
export const situations = [
  'correct rules',
  'no rules',
  'no rules, a router refuses',
  'rules flushed',
  'only IPv4 rules on a dual-stack pod',
  'only IPv4 rules on a dual-stack pod with IPv6 as first address',
  'the mesh serves both families, correct rules',
  'the mesh serves both families, only IPv4 rules',
  'wrong port',
  'wrong port: that of the other direction',
  'wrong port: that of encrypted traffic',
  'listeners missing',
  'the proof runs as the wrong user',
  'rules for another proxy user',
  'the proxy has other ids, correct rules',
  'the proxy has other ids, rules for the default ids',
  'port in use',
  "no default route, only the subnet's",
  "no default route, only the services'",
  'no default route, no rules',
  'no route at all',
  'correct rules, lo is down',
  'the target itself answers',
  'the target echoes',
  'the target itself answers, correct rules',
  'the target is an address of the pod',
  'the target is an address of the pod, no rules',
  'a MASQUERADE rule in the pod',
  'a MASQUERADE rule in the pod, no rules',
  'the target connects back to the pod',
  'the node routes back to the pod',
  'rules are written after 3 s',
  'half breaks at 2 s, the rest appears at 3 s',
  'half breaks at 2 s, recovers at 5 s, the rest appears at 3 s',
  'sandbox without the interface',
  'interface appears after 2 s',
  'interface appears after 2 s, gateway does not answer',
  'address of another pod',
  'network-status written late',
  'network-status of the previous sandbox',
  'network-status absent',
  'network-status names a missing interface',
  'network-status names a missing interface, the pod requests devices',
  'network-status has addresses and no interface',
  'network-status has addresses and no interface, which is missing',
  'network-status omits the network',
  'network-status omits the network, interface down',
  'network-status omits the network, no interface',
  'network-status of the previous sandbox omits the network, no interface',
  'network without addresses, network-status confirms it',
  'network without addresses, network-status late',
  'network without addresses, network-status absent',
  'gateway does not answer',
  'gateway does not answer, other hosts do',
  'a policy drops every packet',
] as const;
export type NetworkState = (typeof situations)[number];

/** Something that happens to a sandbox. */
export type Step = (sandbox: Sandbox, proof?: RunningProof) => Promise<void> | void;

/** How a situation is created, and the expected end of the validator. */
export interface Plan {
  shape?: Partial<Shape>;
  /** How the pod differs from the network's usual one. */
  pod?: Partial<PodSpecimen>;
  /** Steps before the validator starts, in this order. */
  before?: Step[];
  /** A step while it runs, and its time after the start in milliseconds. */
  while?: { after: number; step: Step }[];
  options?: ProofOptions;
  ends: 0 | 69 | 95;
}

const ending =
  (ends: Plan['ends']) =>
  (...before: Step[]): Plan => ({ before, ends });
/** After these steps, the network is right. */
export const passes = ending(0);
/** The network is wrong. */
export const fails = ending(95);
/** The check cannot run. */
export const cannot = ending(69);

/** A plan for each situation that applies to a network; comments in its file say why others do not. */
export type Cells = Partial<Record<NetworkState, Plan>>;

/** Creates the situation in its own namespaces, runs the validator, and removes everything. */
export async function runCommand(plan: Plan, specimen: PodSpecimen): Promise<Proof> {
  await using sandbox = await Sandbox.make(plan.shape);
  for (const step of plan.before ?? []) await step(sandbox);
  const proof = startProof(sandbox, { ...specimen, ...plan.pod }, plan.options);
  await proof.started;
  const steps = (plan.while ?? []).map(async ({ after, step }) => {
    await sleep(after);
    await step(sandbox, proof);
  });
  const [ended] = await Promise.all([proof.ended, ...steps]);
  return ended;
}
