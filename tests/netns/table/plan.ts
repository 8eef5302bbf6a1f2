import { setTimeout as sleep } from 'node:timers/promises';
import type { PodSpecimen } from '../harness/pods.ts';
import { type Proof, type ProofOptions, type RunningProof, startProof } from '../harness/proof.ts';
import { Sandbox } from '../harness/sandbox.ts';
import type { Shape } from '../harness/shape.ts';

export type Step = (sandbox: Sandbox, proof?: RunningProof) => Promise<void> | void;

export interface Plan {
  shape?: Partial<Shape>;
  pod?: Partial<PodSpecimen>;
  before?: Step[];
  /** Steps while the proof runs, with their times in milliseconds after its start. */
  while?: { after: number; step: Step }[];
  options?: ProofOptions;
}

export interface Cell extends Plan {
  /** The reason of the checks that do not pass, such as `not-redirected (IPv6)`; if absent, all checks pass. */
  fails?: string;
  /** A pattern that has to match in the log. */
  says?: RegExp;
}

/** A cell for each situation that applies to a network. Comments in the network's file explain missing cells. */
export type Cells = Record<string, Cell>;

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
