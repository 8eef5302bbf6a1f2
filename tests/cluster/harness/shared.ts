import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../../webhook/lib/errors.ts';
import type { Credentials, Server } from './access.ts';
import { Api } from './api.ts';
import { auditLog } from './api-server.ts';
import type { Cluster } from './cluster.ts';
import { type Content, contentOf, restore } from './etcd.ts';
import type { Layout } from './layout.ts';
import { sharedBy } from './options.ts';
import type { Pair } from './pki.ts';

/** What a process needs to use a control plane that test files share, one after another. */
export interface Shared {
  server: Server;
  authority: Pair;
  admin: Credentials;
  ports: Layout['ports'];
  /** Path of the API server's audit log, which begins with the requests of earlier test files. */
  auditLog: string;
  /** etcd's content before the first test file. */
  fresh: Content;
}

/** etcd's content counts as settled after this many milliseconds without a change. */
const settled = 500;

/** Writes the {@link Shared} of a control plane that has just been started to a file. @returns the file's path */
export async function share({ server, authority, admin, ports, folder }: Cluster): Promise<string> {
  let fresh = await contentOf(ports.etcd);
  // controllers are still creating the objects that every cluster has
  for (let changed = true; changed; ) {
    await sleep(4 * settled);
    const next = await contentOf(ports.etcd);
    changed = next.size !== fresh.size;
    fresh = next;
  }
  const shared = {
    ...{ server, authority: authority.pair, admin: admin.credentials, ports },
    ...{ auditLog: auditLog(folder), fresh: [...fresh] },
  };
  const file = join(folder, 'shared.json');
  writeFileSync(file, JSON.stringify(shared), { mode: 0o600 });
  return file;
}

/** The shared control plane, reset to its state before the first file; undefined if there is none that works. */
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

/** @throws Error if etcd does not answer, or if something creates objects again and again */
async function clear({ ports, fresh }: Shared): Promise<void> {
  let removed = 0;
  for (let round = 0; round < 40; round++) {
    // when an object is removed, a controller may in turn create or delete others
    const changed = await restore(ports.etcd, fresh);
    if (changed === 0 && round > 0) {
      // the API server reads policies once a second (kubernetes pkg/admission/plugin/policy/generic/policy_source.go)
      if (removed > 0) await sleep(3 * settled);
      return;
    }
    removed += changed;
    await sleep(settled);
  }
  throw new Error('something creates objects again and again');
}
