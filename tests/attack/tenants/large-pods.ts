import { makeNumbered } from './many.ts';
import { optedIn, outside, podsOf, withLongClaim } from './objects.ts';
import type { Stage } from './stage.ts';

/** Characters of the claim's name: the whole pod has to fit into 1.5 MiB, which is what etcd takes. */
const characters = 1_300_000;

/** Pods with our label that are as large as can be, in a namespace that did not opt in and in one that did. */
export async function makeLargePods({ api }: Stage, count: number): Promise<void> {
  for (const namespace of [outside, optedIn]) {
    await makeNumbered(api, podsOf(namespace), count, (index) => withLongClaim(`large-${index}`, characters));
  }
}
