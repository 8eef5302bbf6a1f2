import type { ProfileCheck, WitnessCheck } from '../../../validator/shared/contract.ts';
import { CniGateError } from '../../lib/errors.ts';
import type { NamespaceFacts } from '../facts/namespace.ts';
import { allContainers, type Pod } from '../facts/pod.ts';
import type { CombinedProfiles } from '../profiles/policy.ts';
import type { Profile, ProofContainer, ProofMode } from '../profiles/types.ts';
import { checkNameOf } from '../profiles/types.ts';
import { familiesIn, narrow } from './families.ts';
import { type Ids, idsIn } from './ids.ts';
import { applies } from './profile-selection.ts';
import { targetsIn } from './skipped-ports.ts';
import { witnessFor } from './witness.ts';

/** The combined requirements of the profiles that apply to a pod. */
export interface ProofRequirements {
  profiles: Profile[];
  /** The checks as one JSON text for the init container; empty if there are none. */
  checksJson: string;
  /** A network's own validator, which runs instead of ours. */
  container: ProofContainer | undefined;
  /** What the kubelet's connection has to show, if it is a witness. */
  witness: WitnessCheck | undefined;
  /** The names of checks, each once, in the order of the profiles; `container` means a network's own validator. */
  words: string[];
  /** The user id that a check must run as. */
  asUser: number | undefined;
  /** The group id that a check must run as; undefined if it equals `asUser`. */
  asGroup: number | undefined;
  /** User ids that a check must not run as. */
  notAsUsers: number[];
  /** Group ids that a check must not run as. */
  notAsGroups: number[];
}

/**
 * Returns the requirements of the combined profiles that apply to this pod, or undefined if none does.
 *
 * @param mode a witness can only refuse, so there is none with `warn`
 * @throws CniGateError CNI_GATE_PROFILE_COMBINATION if one profile's proof must run as a user or group that another's excludes
 */
export function requirementsFor(
  pod: Pod,
  combined: CombinedProfiles,
  namespace: NamespaceFacts,
  mode: ProofMode,
): ProofRequirements | undefined {
  const profiles = profilesFor(pod, combined, namespace.labels);
  if (profiles.length === 0) return undefined;
  const checks: ProfileCheck[] = [];
  const ids: Ids[] = [];
  const words = new Set<string>();
  let container: ProofContainer | undefined;
  for (const { name, proof } of profiles) {
    const served = familiesIn(pod, proof);
    for (const check of proof.checks) {
      words.add(checkNameOf(check));
      if ('redirect' in check) {
        const found = idsIn(check.redirect, { pod, namespace });
        ids.push(found);
        // JSON omits undefined values
        const connect = targetsIn(check.redirect, { pod, namespace });
        const redirect = {
          ...narrow({ ...check.redirect, connect }, served),
          ...found,
          skippedPorts: undefined,
        };
        checks.push({ profile: name, redirect } as ProfileCheck);
      } else if ('interfaces' in check && requestsDevices(pod)) {
        checks.push({ profile: name, interfaces: { ...check.interfaces, devices: true } });
      } else {
        checks.push({ profile: name, ...check });
      }
    }
    if (proof.container !== undefined) {
      container = proof.container;
      ids.push(idsIn(container, { pod, namespace }));
    }
  }
  if (container !== undefined) words.add('container');
  const witness = mode === 'warn' ? undefined : witnessFor({ pod, namespace }, profiles);
  if (witness !== undefined) {
    words.add('witness');
    for (const { name, proof } of profiles) {
      const { inbound, exempt, ...plain } = witness;
      if (proof.inbound && inbound) checks.push({ profile: name, witness });
      else if (proof.witness) checks.push({ profile: name, witness: plain });
    }
  }
  const requirements: ProofRequirements = {
    profiles,
    checksJson: checks.length === 0 ? '' : JSON.stringify(checks),
    container,
    witness,
    words: [...words],
    asUser: ids.find(({ asUser }) => asUser !== undefined)?.asUser,
    asGroup: ids.find(({ asGroup }) => asGroup !== undefined)?.asGroup,
    notAsUsers: ids.flatMap(({ notAsUser }) => notAsUser ?? []),
    notAsGroups: ids.flatMap(({ notAsGroup }) => notAsGroup ?? []),
  };
  refuseContradiction(requirements);
  return requirements;
}

/** Whether a container requests something that only some nodes have: the devices of a plugin, or huge pages. */
function requestsDevices(pod: Pod): boolean {
  const ordinary = ['cpu', 'memory', 'ephemeral-storage'];
  return allContainers(pod).some(({ resources }) =>
    Object.keys({ ...resources?.limits, ...resources?.requests }).some((name) => !ordinary.includes(name)),
  );
}

/**
 * The profiles that apply, and those that will apply once the pod has the annotations of the others: a later call sees
 * these annotations and must give the same answer.
 */
function profilesFor(
  pod: Pod,
  combined: CombinedProfiles,
  namespaceLabels: Record<string, string>,
): Profile[] {
  let holding: Profile[] = [];
  for (let later = pod; ; ) {
    const before = holding;
    holding = combined.profiles.filter(
      (profile) => before.includes(profile) || applies(profile, later, namespaceLabels),
    );
    const added = holding.filter((profile) => !before.includes(profile));
    if (added.every(({ annotations }) => Object.keys(annotations).length === 0)) return holding;
    const given = Object.assign({}, ...added.map((profile) => profile.annotations));
    const annotations = { ...given, ...later.metadata.annotations };
    later = { ...pod, metadata: { ...pod.metadata, annotations } };
  }
}

/** Compares ids that come from the pod. Ids that profiles name were compared when the profiles were combined. */
function refuseContradiction(requirements: ProofRequirements): void {
  const { profiles, asUser, asGroup = asUser, notAsUsers, notAsGroups } = requirements;
  const clashes = [
    ...notAsUsers.filter((id) => id === asUser).map((id) => `user ${id}`),
    ...notAsGroups.filter((id) => id === asGroup).map((id) => `group ${id}`),
  ];
  if (clashes.length === 0) return;
  const names = profiles.map(({ name }) => `"${name}"`).join(' and ');
  throw new CniGateError(
    'CNI_GATE_PROFILE_COMBINATION',
    `the proof of this pod would have to run as ${clashes[0]}, which another of its checks (profiles ${names}) excludes: ` +
      'give the proxies of the pod different ids, or use only one of the profiles',
  );
}
