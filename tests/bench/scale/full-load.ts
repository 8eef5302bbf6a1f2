import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { connections, type Figures, load } from '../load.ts';
import { namespaceOf } from './objects.ts';
import type { Server } from './server.ts';

const review = JSON.parse(
  readFileSync(new URL('../../reviews/pod-statefulset-db.json', import.meta.url), 'utf8'),
);
const namespace = namespaceOf(0);
review.request.namespace = namespace;
review.request.object.metadata.namespace = namespace;
const body = JSON.stringify(review);

/** Sends reviews of one pod to `/mutate` over twenty connections, each the next as soon as the last is answered. */
export async function fullLoad({ port, vitals }: Server, seconds: number): Promise<Figures> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections, rejectUnauthorized: false });
  try {
    return await load({ port, agent, usage: async () => vitals() }, body, seconds);
  } finally {
    agent.destroy();
  }
}
