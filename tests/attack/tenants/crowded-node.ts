import { makeOneToSteer, whereItWent } from './innocents.ts';
import { makeNumbered } from './many.ts';
import { largeOn, other, outside, podsOf, spare } from './objects.ts';
import type { Stage } from './stage.ts';

/** Bytes of each, and how many on each node: 14 of them were more than steering read of a node once. */
const [bytes, count] = [1_300_000, 14];
/** How long a pod may take that is steered, in seconds. The scheduler lets it pause for ten after some refusals. */
const patience = 60;

/** Large pods on both nodes that a pod can be steered to, then pods that have to be. */
export async function crowdNodes({ api }: Stage): Promise<void> {
  for (const node of [spare, other]) {
    await makeNumbered(api, podsOf(outside), count, (index) =>
      largeOn(node, `large-${node}-${index}`, bytes),
    );
  }
  const names = Array.from({ length: 5 }, (_, index) => `beside-large-${index}`);
  await Promise.all(names.map((name) => makeOneToSteer(api, name)));
  await Promise.all(names.map((name) => whereItWent(api, name, patience)));
}
