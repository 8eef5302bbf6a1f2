import type { SecretData } from '../../certs/managed/secret.ts';
import type { ConfigurationSight, TrustSight } from '../../certs/managed/trust.ts';
import type { CniGateError } from '../lib/errors.ts';

/** The Secret as it was read. */
export interface SeenSecret {
  uid: string;
  /** Its resourceVersion: writing fails where it has changed since. */
  version: string;
  /** Whether it carries our label. */
  labelled: boolean;
  /** As text; bytes that are no UTF-8 read as replacement characters. */
  data: SecretData;
}

/** A webhook configuration as it was read. */
export interface SeenConfiguration extends ConfigurationSight {
  /** Its resourceVersion. */
  resourceVersion: string;
  /** Which of its webhooks call our Service, by their place in it, in the order of `bundles`. */
  webhooks: number[];
}

/** All webhook configurations that were asked for. */
export interface SeenConfigurations extends TrustSight {
  configurations: SeenConfiguration[];
  /** Those that do not exist, or in which no webhook calls our Service, each with what is wrong. */
  absent: Map<string, string>;
  /** Those that could not be read, each with why. */
  failed: Map<string, CniGateError>;
}

/** What replicas share through the API server, and all that {@link Keeper} knows of a cluster. */
export interface Shared {
  /** @throws CniGateError where it cannot be read */
  secret(): Promise<SeenSecret | undefined>;
  /**
   * @param over the Secret as it was read; undefined where there was none
   * @throws ChangedSince where another replica was faster; CniGateError where it may not be written
   */
  write(data: SecretData, over: SeenSecret | undefined): Promise<SeenSecret>;
  configurations(): Promise<SeenConfigurations>;
  /**
   * Puts a bundle into the webhooks of ours in a configuration.
   *
   * @throws ChangedSince, CniGateError as above
   */
  trust(configuration: SeenConfiguration, bundle: string): Promise<void>;
  /** The time by the API server's clock, whose opinion on certificates counts. */
  now(): Date;
}

/** A write failed because what it was based on was changed, or went away, since it was read. */
export class ChangedSince extends Error {}
