import { after, test } from 'node:test';
import { crowdNodes, makeLargeDaemonSets, makeLargePods } from './large-objects.ts';
import { endPending, makeManyPending } from './many-pending.ts';
import { setTheStage } from './stage.ts';
import { underAttack } from './under-attack.ts';

/* Attacks by tenants through the API server. Objects of an attack stay during the later ones. */

/** The sizes of the attacks: first for the nightly run, then for all other runs. */
const sizes =
  process.env.CNI_GATE_ATTACK_SIZE === 'nightly'
    ? { pods: 271, daemonSets: 100, pending: [400, 1300], expressions: [280, 95], lasts: 60 }
    : { pods: 20, daemonSets: 10, pending: [400], expressions: [95], lasts: 5 };

/** How many pods wait, and their number of expressions: cni-gate compares 95 with the nodes, but not 280. */
const waiting = sizes.pending.flatMap((count) =>
  sizes.expressions.map((expressions) => ({ count, expressions, lasts: sizes.lasts })),
);

const stage = await setTheStage();
after(() => stage.close());

test('pods are steered to nodes with many megabytes of pods on them', (t) =>
  underAttack(t, stage, () => crowdNodes(stage)));

test(`${sizes.pods} pods of 1.3 MB with our label, in a namespace that opted in and in one that did not`, (t) =>
  underAttack(t, stage, () => makeLargePods(stage, sizes.pods)));

test(`${sizes.daemonSets} DaemonSets of 1.4 MB, and one that a profile names, while replicas restart`, (t) =>
  underAttack(t, stage, () => makeLargeDaemonSets(stage, sizes.daemonSets)));

for (const many of waiting) {
  test(`${many.count} pods that wait with ${many.expressions} expressions each, on 1,002 nodes`, async (t) => {
    await underAttack(t, stage, () => makeManyPending(stage, many));
    await endPending(stage);
  });
}
