import type { Fault, FaultReason } from '../../certs/managed/fault.ts';
import type { Step } from '../../certs/managed/plan.ts';
import type { ReadState } from '../../certs/managed/reading.ts';
import { bundleOf } from '../../certs/managed/state.ts';
import { bundleFault, trustedBy } from '../../certs/managed/trust.ts';
import type { Log } from '../lib/deps.ts';
import type { CniGateError } from '../lib/errors.ts';
import type { KeeperEvents } from './keeper.ts';
import type { CertificateMetrics } from './metrics.ts';
import type { SeenConfigurations } from './shared.ts';

const sentences: Record<Step['do'], string> = {
  none: 'nothing to do',
  wait: 'waiting for a replica that knows better',
  restore: 'written back what this replica knew',
  create: 'made a new authority',
  issue: 'issued a new serving certificate',
  begin: 'made the next authority; it signs nothing until everybody trusts it',
  promote: 'the next authority signs from now on; the one before it is still trusted',
  drop: 'the previous authority is not trusted any longer',
  rewrite: 'taken out what could not be used',
};

/** A clock that is off by less than this is no news. */
const allowedSkew = 30_000;

/** Logs and counts what a {@link Keeper} does. What stays as it is, is said once. */
export class Report implements KeeperEvents {
  readonly #log: Log;
  readonly #metrics: CertificateMetrics;
  readonly #onState: (state: ReadState) => void;
  readonly #ahead: () => number;
  /** The webhook configurations as they were last read. */
  #seen: SeenConfigurations['configurations'] = [];
  /** Names of the configurations in which this replica has seen a caBundle. */
  readonly #filled = new Set<string>();
  /** What was said last, by what it is about. */
  readonly #said = new Map<string, string>();

  /**
   * @param ahead milliseconds by which the API server's clock is ahead of ours
   * @param onState called with each state that was found or written
   */
  constructor(
    log: Log,
    metrics: CertificateMetrics,
    ahead: () => number,
    onState: (state: ReadState) => void,
  ) {
    this.#log = log;
    this.#metrics = metrics;
    this.#ahead = ahead;
    this.#onState = onState;
  }

  /** Why nothing could be served so far, or what went wrong last; undefined where nothing is wrong. */
  get trouble(): string | undefined {
    return this.#said.get('secret');
  }

  wrote(step: Step['do'], faults: Fault[]): void {
    this.#metrics.stepped(step);
    for (const { part, reason, code, message } of faults) {
      this.#metrics.mended('secret', reason);
      this.#log.warn({ code, part, reason, step }, `${message} (${code}); mended: ${sentences[step]}`);
    }
    if (faults.length === 0) this.#log.info({ step }, `certificates: ${sentences[step]}`);
  }

  waiting(faults: Fault[]): void {
    const what =
      faults[0]?.message ??
      'the caBundles trust an authority that is not in the Secret, or not the one that signs there';
    this.#once('secret', what, () => {
      this.#log.warn({ code: faults[0]?.code }, `${what}: ${sentences.wait}`);
    });
  }

  mended(configuration: string, reason: FaultReason): void {
    this.#metrics.mended('webhook-configuration', reason);
    this.#metrics.trusts(configuration, true);
    const isNew = reason === 'empty' && !this.#filled.has(configuration);
    this.#filled.add(configuration);
    if (isNew) {
      // manifests bring no caBundle, so nobody has emptied one that was never seen full
      this.#log.info({ configuration }, `the caBundle of ${configuration} was filled in`);
      return;
    }
    this.#log.warn({ configuration, reason }, `the caBundle of ${configuration} was ${reason}; mended`);
  }

  failed(about: string, error: CniGateError): void {
    this.#metrics.failed(error.code);
    this.#once(about, error.message, () => {
      this.#log.error({ about, code: error.code }, `${error.message} (${error.code}); it is tried again`);
    });
  }

  seen({ configurations, absent, failed }: SeenConfigurations): void {
    for (const { name, bundles } of configurations) if (bundles.some(Boolean)) this.#filled.add(name);
    for (const [name, message] of absent) {
      this.#metrics.trusts(name, false);
      this.#filled.delete(name);
      this.#once(name, message, () => {
        this.#log.warn(
          { configuration: name, code: 'CNI_GATE_CA_BUNDLE' },
          `${message} (CNI_GATE_CA_BUNDLE)`,
        );
      });
    }
    for (const [name, error] of failed) {
      this.#metrics.trusts(name, false);
      this.failed(name, error);
    }
    this.#seen = configurations;
  }

  state(state: ReadState): void {
    const wanted = bundleOf(state);
    for (const { name, bundles } of this.#seen) {
      const complete = bundles.every((bundle) => bundleFault(bundle, wanted) === undefined);
      this.#metrics.trusts(name, complete);
      if (complete) this.#over(name);
    }
    this.#metrics.authorities(state.authority.facts.notAfter, trustedBy(state).size);
    this.#over('secret');
    this.#tellClock();
    this.#onState(state);
  }

  #tellClock(): void {
    const ahead = this.#ahead();
    this.#metrics.clockAhead(ahead);
    if (Math.abs(ahead) <= allowedSkew) {
      this.#over('clock');
      return;
    }
    const seconds = Math.round(Math.abs(ahead) / 1000);
    this.#once('clock', 'off', () => {
      const message = `the clock of this machine is ${seconds} s ${ahead > 0 ? 'behind' : 'ahead of'} the API server's, which is the one that certificates are made for`;
      this.#log.warn({ ahead: ahead / 1000 }, message);
    });
  }

  #once(about: string, message: string, tell: () => void): void {
    if (this.#said.get(about) === message) return;
    this.#said.set(about, message);
    tell();
  }

  #over(about: string): void {
    if (this.#said.delete(about))
      this.#log.info({ about }, `certificates: all is well again with the ${about}`);
  }
}
