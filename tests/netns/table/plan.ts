import { setTimeout as sleep } from 'node:timers/promises';
import type { PodSpecimen } from '../harness/pods.ts';
import { type Proof, type ProofOptions, type RunningProof, startProof } from '../harness/proof.ts';
import { Sandbox } from '../harness/sandbox.ts';
import type { Shape } from '../harness/shape.ts';

/** The rows of the table: what may be the matter with a pod's network. */
export const situations = [
  'right rules',
  'no rules',
  'no rules, a router refuses',
  'rules flushed',
  'only IPv4 rules on a dual-stack pod',
  'only IPv4 rules on a dual-stack pod, IPv6 is its first address',
  'the mesh serves both families, right rules',
  'the mesh serves both families, only IPv4 rules',
  'wrong port',
  'wrong port: one of the proxy for the other direction',
  "wrong port: the proxy's for what comes encrypted",
  'listeners missing',
  "proxy's uid skipped: run as the wrong user",
  "proxy's uid skipped: the rules skip the proof's",
  'the proxy runs as another user and group, right rules',
  'the proxy runs as another user and group, rules for the usual one',
  'port taken',
  'no default route, the subnet only',
  'no default route, the services only',
  'no default route, no rules',
  'no route at all',
  'right rules, lo is down',
  'target answers by itself',
  'target sends back what it gets',
  'target answers by itself, right rules',
  'target hands the connection back to the pod',
  'node leads the connection back to the pod',
  'rules come 3 s late',
  'sandbox without the interface',
  'interface comes 2 s late',
  'interface comes 2 s late, gateway does not answer',
  'address of another pod',
  'network-status late',
  'network-status of the sandbox before',
  'network-status absent',
  'network-status leaves the network out',
  'network without addresses, as network-status says',
  'gateway does not answer',
  'gateway does not answer, others do',
  'every packet dropped by policy',
] as const;
export type Situation = (typeof situations)[number];

/** Something that happens to a sandbox. */
export type Step = (sandbox: Sandbox, proof?: RunningProof) => Promise<void> | void;

/** How a situation is made, and how the validator has to end in it. */
export interface Plan {
  shape?: Partial<Shape>;
  /** How the pod differs from the network's usual one. */
  pod?: Partial<PodSpecimen>;
  /** What is done before the validator starts, in this order. */
  before?: Step[];
  /** What is done while it runs, and how long after its start, in milliseconds. */
  while?: { after: number; step: Step }[];
  options?: ProofOptions;
  ends: 0 | 69 | 95;
}

/** A plan for each situation, or why the situation says nothing about a network. */
export type Cells = Record<Situation, Plan | string>;

/** Makes the situation in namespaces of its own, runs the validator in it and takes all away again. */
export async function carryOut(plan: Plan, specimen: PodSpecimen): Promise<Proof> {
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
