import { parseDuration } from '../../../validator/shared/duration.ts';
import { CniGateError } from '../../lib/errors.ts';
import { nameOf } from '../../lib/names.ts';
import { nearest } from '../../lib/spelling.ts';
import { conflicts, lacksWitness } from './conflicts.ts';
import {
  type Configuration,
  type EvidenceMode,
  type Profile,
  type ProfileProof,
  type ProofSettings,
  placesOf,
  type RepairSettings,
} from './types.ts';

export interface GateSettings {
  mode: Configuration['gate']['mode'];
  startupGrace: number;
  maxHold: number;
  evidence: EvidenceMode;
}

/** The maximum length of a label value in Kubernetes. An injected pod has the combination as a label. */
const longestLabel = 63;

/** Whether pods with this profile alone get an init container. */
export const hasProof = ({ checks, container, witness }: ProfileProof): boolean =>
  checks.length > 0 || container !== undefined || witness !== undefined;

/** A configuration in the form that requests need, prepared once for each change of the configuration. */
export class Policy {
  readonly proof: ProofSettings;
  readonly gate: GateSettings;
  readonly steer: Configuration['steer'];
  readonly repair: RepairSettings;
  readonly profiles: ReadonlyMap<string, Profile>;
  /** `namespace/name` of every DaemonSet that provides a network. The pods of these DaemonSets are exempt. */
  readonly daemonSets: ReadonlySet<string>;
  readonly configuration: Configuration;

  constructor(configuration: Configuration) {
    this.configuration = configuration;
    this.proof = configuration.proof;
    const { startupGrace, maxHold, evidence = 'ready', mode } = configuration.gate;
    // the schema guarantees that both texts are durations
    this.gate = {
      mode,
      startupGrace: parseDuration(startupGrace) ?? 0,
      maxHold: parseDuration(maxHold) ?? 0,
      evidence,
    };
    this.steer = configuration.steer;
    this.repair = configuration.repair;
    this.profiles = new Map(configuration.profiles.map((profile) => [profile.name, profile]));
    this.daemonSets = new Set(
      configuration.profiles.flatMap(({ daemonSets }) => daemonSets.flatMap(placesOf).map(nameOf)),
    );
  }

  /** `gate.evidence: proof` does not apply to a profile without a proof, because no proof could ever pass. */
  evidenceOf({ evidence, proof }: Pick<Profile, 'evidence' | 'proof'>): EvidenceMode {
    return evidence ?? (hasProof(proof) ? this.gate.evidence : 'ready');
  }

  /** Whether repair recreates a pod with these profiles when its network is lost: `proof.continuous.onFailure`. */
  recreatesLost(profiles: readonly string[]): boolean {
    const settings = profiles.flatMap((name) => this.profiles.get(name)?.proof.continuous ?? []);
    return settings.length > 0 && settings.every(({ onFailure }) => onFailure === 'recreate');
  }

  /** Returns a policy in which a function has changed each profile. The function must keep the profile's name. */
  withProfiles(change: (profile: Profile) => Profile): Policy {
    return new Policy({ ...this.configuration, profiles: this.configuration.profiles.map(change) });
  }

  /**
   * Returns the profiles in a value of the label `cni-gate.io/profile`, such as `cilium.linkerd`, in the same order.
   * @throws CniGateError CNI_GATE_PROFILE_UNKNOWN or CNI_GATE_PROFILE_COMBINATION
   */
  combineProfiles(label: string): Profile[] {
    if (label.length > longestLabel)
      throw notCombined(
        `${label.slice(0, longestLabel)}…`,
        `is longer than a label value may be (${longestLabel} characters)`,
      );
    const profiles = label.split('.').map((name) => this.#profile(name, label));
    if (new Set(profiles).size < profiles.length) throw notCombined(label, 'names a profile twice');
    const faults = conflicts(profiles);
    if (faults.length > 0) throw notCombined(label, `is not possible: ${faults.join('; ')}`);
    if (lacksWitness(profiles))
      throw notCombined(label, 'has proof.continuous, but no profile with proof.witness: add one');
    return profiles;
  }

  #profile(name: string, label: string): Profile {
    const profile = this.profiles.get(name);
    if (profile !== undefined) return profile;
    const of = name === label ? '' : ` of "${label}"`;
    const known = [...this.profiles.keys()];
    const meant = nearest(name, known);
    const hint = meant === undefined ? '' : ` (did you mean "${meant}"?)`;
    throw new CniGateError(
      'CNI_GATE_PROFILE_UNKNOWN',
      `profile "${name}"${of} does not exist${hint}; the configuration has: ${known.join(', ')}`,
    );
  }
}

/** The profiles that the value of a profile label names, or why they cannot be combined. */
export function combinedOf(policy: Policy, label: string): Profile[] | CniGateError {
  try {
    return policy.combineProfiles(label);
  } catch (error) {
    if (error instanceof CniGateError) return error;
    throw error;
  }
}

const notCombined = (label: string, why: string): CniGateError =>
  new CniGateError('CNI_GATE_PROFILE_COMBINATION', `profile "${label}" ${why}`);
