import { randomUUID } from 'node:crypto';
import type {
  ConfigurationName,
  ConfigurationSnapshot,
  Configurations,
  SecretData,
  SecretSnapshot,
  SharedObjects,
} from '../../../certs/objects.ts';
import { fingerprintsIn } from '../../../certs/rotation.ts';
import { CniGateError } from '../../../webhook/lib/errors.ts';

/** The error of a write that names an outdated version. */
export const conflict = new CniGateError('CNI_GATE_CLUSTER_CONFLICT', 'the object has been modified');

export interface Configuration {
  uid: string;
  version: number;
  bundle: string | undefined;
  /** Every caBundle that the configuration has had, the current one last. */
  history: Written[];
}

export interface Written {
  at: number;
  trusted: Set<string>;
}

/** A cluster with a Secret, webhook configurations and a clock. A write must name the version that it replaces. */
export class World {
  secret: SecretSnapshot | undefined;
  configurations = new Map<ConfigurationName, Configuration>();
  /** The monotonic clock, in milliseconds. */
  monotonicNow = 0;
  /** By how many milliseconds the wall clock was set ahead. */
  shift = 0;
  #version = 0;
  readonly #began = Date.parse('2030-01-01T00:00:00Z');

  now(): Date {
    return new Date(this.#began + this.monotonicNow + this.shift);
  }

  setSecret(data: SecretData | undefined, { labelled = true, sameUid = true } = {}): void {
    const uid = sameUid && this.secret ? this.secret.uid : randomUUID();
    this.secret = data && { uid, version: this.#next(), labelled, data };
  }

  setBundle(name: ConfigurationName, bundle: string | undefined): void {
    const { uid = randomUUID(), history = [] } = this.configurations.get(name) ?? {};
    const written = [...history, { at: this.monotonicNow, trusted: fingerprintsIn(bundle) }];
    this.configurations.set(name, { uid, version: Number(this.#next()), bundle, history: written });
  }

  /** The cluster as a replica sees it. Each request first waits for `turn`. */
  shared(turn: () => Promise<void>): SharedObjects {
    return {
      now: () => this.now(),
      secret: async () => {
        await turn();
        return this.secret && { ...this.secret };
      },
      write: async (data, over) => {
        await turn();
        const same = over?.uid === this.secret?.uid && over?.version === this.secret?.version;
        if (!same) throw conflict;
        this.setSecret(data);
        return { ...(this.secret as SecretSnapshot) };
      },
      configurations: async () => {
        await turn();
        return this.#snapshot();
      },
      trust: async (seen, bundle) => {
        await turn();
        const own = this.configurations.get(seen.name);
        if (String(own?.version) !== seen.resourceVersion) throw conflict;
        this.setBundle(seen.name, bundle);
      },
    };
  }

  #snapshot(): Configurations {
    const found = [...this.configurations].map(
      ([name, { uid, version, bundle }]): ConfigurationSnapshot => ({
        name,
        version: `${uid}/${version}`,
        resourceVersion: String(version),
        bundles: [bundle ?? ''],
        webhooks: [0],
      }),
    );
    return { found, faults: new Map() };
  }

  #next(): string {
    this.#version += 1;
    return String(this.#version);
  }
}
