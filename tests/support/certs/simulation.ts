import assert from 'node:assert/strict';
import type { SecretData } from '../../../certs/objects.ts';
import {
  bundleOf,
  fingerprintsIn,
  newAuthority,
  type Reading,
  readSecret,
  secretData,
} from '../../../certs/rotation.ts';
import { inForce } from '../../../certs/verify.ts';
import { Replica, type Settings } from './replica.ts';
import { World, type Written } from './world.ts';

export const minute = 60_000;
export const day = 24 * 60 * minute;

/** How long, in milliseconds, a replica that is not frozen may go without completing a reconciliation. */
const longestReconciliation = 5_000;

const names = ['mutating/cni-gate', 'validating/cni-gate'] as const;

interface Watch {
  server: number;
  name: (typeof names)[number];
  /** The index, in the configuration's history, of the last caBundle that the API server knows. */
  known: number;
}

/** Faults of the Secret: functions from its data to the faulty data, or to undefined for a deleted Secret. */
export const secretFaults: Record<
  string,
  (data: SecretData, stranger: SecretData) => SecretData | undefined
> = {
  deleted: () => undefined,
  emptied: () => ({}),
  'emptied by value': (data) => Object.fromEntries(Object.keys(data).map((key) => [key, ''])),
  garbage: (data) => Object.fromEntries(Object.keys(data).map((key) => [key, 'garbage'])),
  'half written': (data) => ({ ...data, 'tls.crt': (data['tls.crt'] ?? '').slice(0, 300) }),
  'key of a stranger': (data, stranger) => ({ ...data, 'tls.key': stranger['tls.key'] ?? '' }),
  'authority of a stranger': (data, stranger) => ({
    ...data,
    'tls.crt': stranger['tls.crt'] ?? '',
    'tls.key': stranger['tls.key'] ?? '',
  }),
  'all of a stranger': (_data, stranger) => stranger,
  'bundle lost': (data) => ({ ...data, 'ca.crt': '' }),
  'next damaged': (data) => ({ ...data, 'next.crt': 'garbage' }),
  'previous damaged': (data) => ({ ...data, 'previous.crt': 'garbage' }),
};

export const bundleFaults: Record<
  string,
  (bundle: string | undefined, stranger: SecretData) => string | undefined
> = {
  wiped: () => undefined,
  garbage: () => 'garbage',
  foreign: (_bundle, stranger) => stranger['ca.crt'],
  'one too many': (bundle, stranger) => `${bundle ?? ''}${stranger['ca.crt']}`,
};

/** Checks after each event that every API server trusts what every replica serves, however late changes arrive. */
export class Simulation {
  readonly world = new World();
  readonly replicas: Replica[];
  readonly settings: Settings;
  readonly #watches: Watch[];
  /**
   * While true, trust is not asserted. A fault that stops all replicas sets it to true, and it stays true until API
   * servers know the repair of the fault.
   */
  #excused = true;
  readonly #stranger: SecretData;
  readonly #past: SecretData[] = [];

  private constructor(settings: Settings, replicas: number, stranger: SecretData) {
    this.settings = settings;
    this.#stranger = stranger;
    this.replicas = Array.from({ length: replicas }, () => new Replica(this.world, settings));
    for (const name of names) this.world.setBundle(name, undefined);
    this.#watches = names.flatMap((name) => [0, 1].map((server) => ({ server, name, known: 0 })));
  }

  static async begin(settings: Settings, replicas: number): Promise<Simulation> {
    const authority = newAuthority(settings.authorityDays, new World().now());
    return new Simulation(settings, replicas, secretData({ authority }));
  }

  async step(index: number): Promise<void> {
    const replica = this.#replica(index);
    if (!replica.frozen) await replica.step();
    this.check();
  }

  /** Lets time pass in pieces, in which replicas and API servers act. No leaf certificate expires within a piece. */
  async pass(ms: number): Promise<void> {
    const [short, longest] = [Math.min(ms, 2_000), (this.settings.leafDays * day) / 6];
    for (let passed = 0; passed < ms; ) {
      const piece = passed < 20_000 ? short : Math.min(longest, Math.ceil(ms / 8));
      passed += piece;
      this.world.monotonicNow += piece;
      // at the end of a piece, API servers know everything that was written at least an overlap earlier
      this.#learnUpTo(this.world.monotonicNow - this.settings.overlap);
      for (const replica of this.replicas) {
        if (replica.frozen || this.world.monotonicNow - replica.reconciledAt < longestReconciliation)
          continue;
        await replica.finish();
        this.check();
      }
    }
  }

  learn(index: number): void {
    const watch = this.#watches[index % this.#watches.length];
    if (watch) watch.known = this.#historyOf(watch).length - 1;
    this.check();
  }

  /** Restarts a replica, which loses its memory; but only if another running replica remembers the certificates. */
  restart(index: number): void {
    const replica = this.#replica(index);
    const others = this.replicas.some((each) => each !== replica && each.remembers && !each.frozen);
    if (others && this.#isSound()) replica.restart();
  }

  /** Cuts a replica off, even in the middle of a reconciliation, but only if another replica goes on. */
  freeze(index: number): void {
    const replica = this.#replica(index);
    const others = this.replicas.some((each) => each !== replica && each.remembers && !each.frozen);
    if (others && this.#isSound()) replica.frozen = true;
  }

  thaw(): void {
    for (const replica of this.replicas) replica.frozen = false;
  }

  async damage(fault: string): Promise<void> {
    await this.#settle();
    const { secret } = this.world;
    if (secret) this.world.setSecret(secretFaults[fault]?.(secret.data, this.#stranger));
  }

  /** Writes an older copy of the Secret back; with another uid, as if the Secret had been deleted before. */
  async rollBack(index: number, sameUid: boolean): Promise<void> {
    await this.#settle();
    const older = this.#past[index % Math.max(this.#past.length, 1)];
    if (older && this.world.secret) this.world.setSecret(older, { sameUid });
  }

  async breakBundle(fault: string): Promise<void> {
    await this.#settle();
    const [name] = names;
    this.world.setBundle(
      name,
      bundleFaults[fault]?.(this.world.configurations.get(name)?.bundle, this.#stranger),
    );
    this.#excused = true;
  }

  async jump(ms: number): Promise<void> {
    await this.#settle();
    this.world.shift += ms;
    // the jump may make valid certificates invalid, and expired ones valid again, for all replicas at once
    this.#excused = true;
  }

  async rotate(): Promise<void> {
    const { state } = this.#reading();
    if (!state || state.next || !this.#isSound()) return;
    const begun = newAuthority(this.settings.authorityDays, this.world.now());
    this.world.setSecret(secretData({ ...state, next: begun }));
  }

  /** Lets all replicas reconcile until nothing is left to do, and all API servers learn the result. */
  async rest(): Promise<void> {
    this.thaw();
    for (let count = 0; count < 12; count++) await this.pass(longestReconciliation);
    this.#learnUpTo(this.world.monotonicNow);
    this.check();
  }

  assertWhole(): void {
    const { state, fault } = this.#reading();
    assert.ok(state, fault?.message);
    const trusted = fingerprintsIn(bundleOf(state));
    for (const { bundle } of this.world.configurations.values())
      assert.deepEqual(fingerprintsIn(bundle).symmetricDifference(trusted), new Set());
    for (const { serving } of this.replicas) assert.equal(serving?.signedBy, state.authority.fingerprint);
    assert.equal(this.#excused, false, 'repaired within the time that it may take');
  }

  /** Asserts that every API server trusts what every replica serves, and keeps each new Secret for {@link rollBack}. */
  check(): void {
    const trusted = this.replicas.every((replica) => this.#untrusted(replica) === undefined);
    const valid = this.replicas.every((replica) => replica.frozen || this.#isValid(replica));
    if (this.#excused) this.#excused = !(trusted && valid && this.#known());
    if (!this.#excused) {
      for (const replica of this.replicas) {
        const fault = this.#untrusted(replica);
        if (fault !== undefined) assert.fail(`replica ${this.replicas.indexOf(replica)}: ${fault}`);
      }
    }
    const data = this.world.secret?.data;
    const { fault } = this.#reading();
    const isWhole = !fault || fault.reason === 'expired';
    if (data && data !== this.#past.at(-1) && isWhole) this.#past.push(data);
  }

  #known(): boolean {
    return this.#watches.every((watch) => watch.known === this.#historyOf(watch).length - 1);
  }

  #isValid({ serving }: Replica): boolean {
    const now = this.world.now();
    return serving !== undefined && inForce(serving, now);
  }

  #untrusted(replica: Replica): string | undefined {
    const { serving } = replica;
    if (!serving || !this.#isValid(replica)) return undefined;
    const { signedBy } = serving;
    const watch = this.#watches.find((each) => !this.#historyOf(each)[each.known]?.trusted.has(signedBy));
    return watch && `API server ${watch.server} does not trust it by ${watch.name}`;
  }

  /** Lets replicas and API servers catch up, so that the next fault is the only one. */
  async #settle(): Promise<void> {
    this.thaw();
    for (let count = 0; count < 4; count++) for (const replica of this.replicas) await replica.finish();
    this.#learnUpTo(this.world.monotonicNow);
    this.check();
  }

  /** Whether a replica without memory would sign with the same authority as the others. */
  #isSound(): boolean {
    const { state } = this.#reading();
    const isShared = this.replicas.some(({ serving }) => serving?.signedBy === state?.authority.fingerprint);
    return !this.#excused && state !== undefined && isShared;
  }

  #reading(): Reading {
    return readSecret(this.world.secret?.data, this.world.now());
  }

  /** Lets API servers know at least everything that was written until `time`. */
  #learnUpTo(time: number): void {
    for (const watch of this.#watches) {
      const last = this.#historyOf(watch).findLastIndex(({ at }) => at <= time);
      watch.known = Math.max(watch.known, last);
    }
  }

  #historyOf({ name }: Watch): Written[] {
    return this.world.configurations.get(name)?.history ?? [];
  }

  #replica(index: number): Replica {
    return this.replicas[index % this.replicas.length] as Replica;
  }
}
