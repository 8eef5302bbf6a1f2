import type { CniGateError } from '../webhook/lib/errors.ts';
import type { SecretData } from './state.ts';
import type { ConfigurationTrust, TrustObservation } from './trust.ts';

/** The Secret as it was read. */
export interface SecretSnapshot {
  uid: string;
  /** Its resourceVersion: a write fails where it has changed since. */
  version: string;
  /** Whether it carries our label. */
  labelled: boolean;
  /** As text; bytes that are no UTF-8 become replacement characters. */
  data: SecretData;
}

/** A webhook configuration as it was read. */
export interface ConfigurationSnapshot extends ConfigurationTrust {
  /** Its resourceVersion. */
  resourceVersion: string;
  /** The indices of those of its webhooks that call our Service, in the order of `bundles`. */
  webhooks: number[];
}

/** All webhook configurations that were asked for. */
export interface ConfigurationsSnapshot extends TrustObservation {
  configurations: ConfigurationSnapshot[];
  /** Those that do not exist, or in which no webhook calls our Service, each with what is wrong. */
  absent: Map<string, string>;
  /** Those that could not be read, each with the error. */
  failed: Map<string, CniGateError>;
}

/** What replicas share through the API server. */
export interface SharedObjects {
  /** @throws CniGateError where it cannot be read */
  secret(): Promise<SecretSnapshot | undefined>;
  /**
   * @param over the Secret as it was read; undefined where there was none
   * @throws Conflict where another replica was faster; CniGateError where it may not be written
   */
  write(data: SecretData, over: SecretSnapshot | undefined): Promise<SecretSnapshot>;
  configurations(): Promise<ConfigurationsSnapshot>;
  /**
   * Writes a bundle into our webhooks of a configuration.
   *
   * @throws Conflict, CniGateError as above
   */
  trust(configuration: ConfigurationSnapshot, bundle: string): Promise<void>;
  /** The time by the API server's clock, which is the one that judges certificates. */
  now(): Date;
}

/** A write failed because the object was changed or deleted since it was read. */
export class Conflict extends Error {}
