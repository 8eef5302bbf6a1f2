import type { Check, ProfileCheck } from '../../../validator/shared/contract.ts';
import { settingsOf, wordOf } from '../../config/checks.ts';
import type { CombinedProfiles } from '../../config/policy.ts';
import type { CheckOfProfile, Profile, ProofContainer } from '../../config/types.ts';
import { CniGateError } from '../../lib/errors.ts';
import type { NamespaceFacts } from '../namespaces.ts';
import type { Pod } from '../pod.ts';
import { familiesIn, narrow, type Served } from './families.ts';
import { type Ids, idsIn, type Place } from './ids.ts';
import { applies } from './profile-selection.ts';

/** The combined requirements of the profiles that apply to a pod. */
export interface ProofRequirements {
  profiles: Profile[];
  /** The checks as one JSON text for the init container; empty if there are none. */
  checksJson: string;
  /** A network's own validator, which runs instead of ours. */
  container: ProofContainer | undefined;
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

/** A profile, and the parts of one pod on which it depends. */
interface Settled {
  profile: Profile;
  served: Served | undefined;
  /** For each check that has some, by its index in `proof.checks`. */
  ids: (Ids | undefined)[];
  idsOfContainer: Ids | undefined;
}

/**
 * A cache of requirements by combination, then by the profiles that apply and the parts of the pod on which they depend. Users
 * choose the ids in pods, so the cache is bounded.
 */
const cache = new WeakMap<CombinedProfiles, Map<string, ProofRequirements>>();
const maxCached = 100;

/**
 * Returns the requirements of the combined profiles that apply to this pod, or undefined if none does.
 *
 * @throws CniGateError CNI_GATE_PROFILE_JOIN if one profile's proof must run as a user or group that another's excludes
 */
export function requirementsFor(
  pod: Pod,
  combined: CombinedProfiles,
  namespace: NamespaceFacts,
): ProofRequirements | undefined {
  const holding = holdingProfiles(pod, combined, namespace.labels);
  if (holding.length === 0) return undefined;
  const cached = cache.get(combined) ?? new Map<string, ProofRequirements>();
  cache.set(combined, cached);
  const settled = holding.map((profile) => settle(profile, { pod, namespace }));
  const key = JSON.stringify(
    settled.map(({ profile, served, ids, idsOfContainer }) => [profile.name, served, ids, idsOfContainer]),
  );
  const known = cached.get(key);
  if (known !== undefined) return known;
  const requirements = makeRequirements(settled);
  if (cached.size >= maxCached) cached.clear();
  cached.set(key, requirements);
  return requirements;
}

function settle(profile: Profile, place: Place): Settled {
  const { checks, container } = profile.proof;
  return {
    profile,
    served: familiesIn(place.pod, profile),
    ids: checks.map((check) => ('redirect' in check ? idsIn(check.redirect, place) : undefined)),
    idsOfContainer: container && idsIn(container, place),
  };
}

/**
 * The profiles that apply, and those that will apply once the pod has the annotations of the others: a later call sees
 * these annotations and must give the same answer.
 */
function holdingProfiles(
  pod: Pod,
  combined: CombinedProfiles,
  namespaceLabels: Record<string, string>,
): Profile[] {
  let holding = combined.profiles.filter((profile) => applies(profile, pod, namespaceLabels));
  for (;;) {
    const given: Record<string, string> = Object.assign({}, ...holding.map((profile) => profile.annotations));
    if (holding.length === combined.profiles.length || Object.keys(given).length === 0) return holding;
    const annotations = { ...given, ...pod.metadata.annotations };
    const later = { ...pod, metadata: { ...pod.metadata, annotations } };
    const before = new Set(holding);
    holding = combined.profiles.filter(
      (profile) => before.has(profile) || applies(profile, later, namespaceLabels),
    );
    if (holding.length === before.size) return holding;
  }
}

function makeRequirements(settled: Settled[]): ProofRequirements {
  const profiles = settled.map(({ profile }) => profile);
  const reported = settled.flatMap(({ profile, served, ids }) =>
    profile.proof.checks.map(
      (check, at): ProfileCheck => ({ profile: profile.name, ...checkWith(check, served, ids[at]) }),
    ),
  );
  const container = profiles.find(({ proof }) => proof.container !== undefined)?.proof.container;
  const words = profiles.flatMap(({ proof }) => proof.checks.map(wordOf));
  const ids = settled.flatMap((it) => [...it.ids, it.idsOfContainer].flatMap((some) => some ?? []));
  const requirements: ProofRequirements = {
    profiles,
    checksJson: reported.length === 0 ? '' : JSON.stringify(reported),
    container,
    words: [...new Set<string>([...words, ...(container ? ['container'] : [])])],
    asUser: ids.find(({ asUser }) => asUser !== undefined)?.asUser,
    asGroup: ids.find(({ asGroup }) => asGroup !== undefined)?.asGroup,
    notAsUsers: ids.flatMap(({ notAsUser }) => notAsUser ?? []),
    notAsGroups: ids.flatMap(({ notAsGroup }) => notAsGroup ?? []),
  };
  refuseContradiction(requirements);
  return requirements;
}

/** The check for one pod, with the values that depend on the pod. */
function checkWith(check: CheckOfProfile, served: Served | undefined, ids: Ids = {}): Check {
  const [redirect] = settingsOf([check], 'redirect');
  if (redirect === undefined) return check as Check;
  const { asUser, asGroup, notAsUser, notAsGroup } = ids;
  // JSON omits undefined values
  return { redirect: { ...narrow(redirect, served), asUser, asGroup, notAsUser, notAsGroup } } as Check;
}

/** Compares ids that come from the pod. Ids that profiles name were compared when the profiles were joined. */
function refuseContradiction({
  profiles,
  asUser,
  asGroup,
  notAsUsers,
  notAsGroups,
}: ProofRequirements): void {
  const group = asGroup ?? asUser;
  const clash =
    asUser !== undefined && notAsUsers.includes(asUser)
      ? `user ${asUser}`
      : group !== undefined && notAsGroups.includes(group)
        ? `group ${group}`
        : undefined;
  if (clash === undefined) return;
  const names = profiles.map(({ name }) => `"${name}"`).join(' and ');
  throw new CniGateError(
    'CNI_GATE_PROFILE_JOIN',
    `the proof of this pod would have to run as ${clash}, which another of its checks (profiles ${names}) excludes: ` +
      'give the proxies of the pod different ids, or use only one of the profiles',
  );
}
