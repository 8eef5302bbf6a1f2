import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../../webhook/lib/errors.ts';
import type { Credentials, Server } from './access.ts';
import { Api } from './api.ts';
import type { Cluster } from './cluster.ts';
import { type Content, contentOf, restore } from './etcd.ts';
import type { Layout } from './layout.ts';
import type { Pair } from './pki.ts';

/** The control plane of a group of test files, which use it one after another: what a file needs to know of it. */
export interface Shared {
  server: Server;
  authority: Pair;
  admin: Credentials;
  ports: Layout['ports'];
  /** What etcd holds before the first file. */
  fresh: Content;
}

/** Environment variable: the path of a {@link Shared} as JSON. */
export const sharedBy = 'CNI_GATE_SHARED';

/** Milliseconds without a change after which etcd's content counts as settled. */
const settled = 500;

/** Writes down what other processes need to use a control plane that has just been started. @returns the file */
export async function share({ server, authority, admin, ports, folder }: Cluster): Promise<string> {
  let fresh = await contentOf(ports.etcd);
  // controllers still make what is in every cluster
  for (let changed = true; changed; ) {
    await sleep(4 * settled);
    const next = await contentOf(ports.etcd);
    changed = next.size !== fresh.size;
    fresh = next;
  }
  const shared = { server, authority: authority.pair, admin: admin.credentials, ports, fresh: [...fresh] };
  const file = join(folder, 'shared.json');
  writeFileSync(file, JSON.stringify(shared), { mode: 0o600 });
  return file;
}

/** The group's control plane as it was before the first file; undefined without one that works. */
export async function takeShared(): Promise<Shared | undefined> {
  const file = process.env[sharedBy];
  if (!file) return undefined;
  try {
    const { fresh, ...others } = JSON.parse(readFileSync(file, 'utf8'));
    const shared: Shared = { ...others, fresh: new Map(fresh) };
    await clear(shared);
    const api = new Api({ server: shared.server, credentials: shared.admin });
    await api.text('/readyz').finally(() => api.close());
    return shared;
  } catch (error) {
    console.error(`the group's control plane cannot be used, so another is started: ${messageOf(error)}`);
    return undefined;
  }
}

/** @throws Error where etcd does not answer, or where something makes objects again and again */
async function clear({ ports, fresh }: Shared): Promise<void> {
  let removed = 0;
  for (let round = 0; round < 40; round++) {
    // controllers may answer the end of one object with another
    const changed = await restore(ports.etcd, fresh);
    if (changed === 0 && round > 0) {
      // the API server reads policies once a second (kubernetes pkg/admission/plugin/policy/generic/policy_source.go)
      if (removed > 0) await sleep(3 * settled);
      return;
    }
    removed += changed;
    await sleep(settled);
  }
  throw new Error('it does not get empty');
}
