import { randomUUID } from 'node:crypto';
import type { SecretData, SecretSnapshot, SharedObjects } from '../../../certs/objects.ts';
import { CniGateError } from '../../../webhook/lib/errors.ts';

/** The API server's error for a write that names an outdated resource version. */
export const conflict = new CniGateError('CNI_GATE_CLUSTER_CONFLICT', 'the object has been modified');

/** A cluster with a Secret, webhook configurations and a clock. A write must name the version that it replaces. */
export class World {
  secret: SecretSnapshot | undefined;
  readonly bundles = new Map<string, string | undefined>();
  /** The monotonic clock, in milliseconds. */
  monotonicNow = 0;
  #version = 0;
  readonly #began = Date.parse('2030-01-01T00:00:00Z');

  now(): Date {
    return new Date(this.#began + this.monotonicNow);
  }

  setSecret(data: SecretData | undefined, { labelled = true, sameUid = true } = {}): void {
    this.#version += 1;
    const uid = (sameUid && this.secret?.object.metadata.uid) || randomUUID();
    const metadata = { uid, resourceVersion: String(this.#version) };
    this.secret = data && { labelled, data, object: { metadata } };
  }

  /** The functions with which a replica reads and writes the objects. */
  readonly shared: SharedObjects = {
    now: () => this.now(),
    secret: async () => this.secret,
    write: async (data, over) => {
      if (over !== this.secret) throw conflict;
      this.setSecret(data);
      return this.secret as SecretSnapshot;
    },
    configurations: async () => {
      const found = Array.from(this.bundles, ([name, bundle = '']) => ({
        ...{ name, path: name, resourceVersion: bundle },
        ...{ bundles: [bundle], webhooks: [0] },
      }));
      return { found, faults: new Map() };
    },
    trust: async ({ name, resourceVersion }, bundle) => {
      if ((this.bundles.get(name) ?? '') !== resourceVersion) throw conflict;
      this.bundles.set(name, bundle);
    },
  };
}
