import type { Check, ProfileCheck } from '../../validator/shared/contract.ts';
import type { NamespaceFacts } from '../admission/namespaces.ts';
import type { Pod } from '../admission/pod.ts';
import { settingsOf, wordOf } from '../config/checks.ts';
import type { Join } from '../config/policy.ts';
import type { CheckOfProfile, Profile, ProofContainer } from '../config/types.ts';
import { CniGateError } from '../lib/errors.ts';
import { familiesIn, narrow, type Served } from './families.ts';
import { type Ids, idsIn, type Place } from './ids.ts';
import { applies } from './when.ts';

/** What the profiles that promise something to a pod ask of it, all together. */
export interface ProofRequirements {
  profiles: Profile[];
  /** The checks as one JSON text for the init container; empty where it makes none. */
  checksJson: string;
  /** A network's own validator, which makes the proof in place of ours. */
  container: ProofContainer | undefined;
  /** The words, each once, in the order of the profiles; `container` stands for a network's own validator. */
  words: string[];
  /** The user id that a check must run as. */
  asUser: number | undefined;
  /** The group id that a check must run as; undefined where it is the number of `asUser`. */
  asGroup: number | undefined;
  /** User ids that a check must not run as. */
  notAsUsers: number[];
  /** Group ids that a check must not run as. */
  notAsGroups: number[];
}

/** A profile, and what it depends on in one pod. */
interface Settled {
  profile: Profile;
  served: Served | undefined;
  /** Of each check that has some, by its place in `proof.checks`. */
  ids: (Ids | undefined)[];
  idsOfContainer: Ids | undefined;
}

/**
 * Requirements by join, then by which of its profiles apply and what they depend on in the pod: the same few come again and
 * again. Whoever makes pods chooses the ids in them, so only so many are kept.
 */
const cache = new WeakMap<Join, Map<string, ProofRequirements>>();
const maxCached = 100;

/**
 * The requirements of those profiles of a join that apply to this pod, or undefined where none does.
 *
 * @throws CniGateError CNI_GATE_PROFILE_JOIN where one profile's proof must run as a user or group that another one's
 *   must not run as
 */
export function requirementsFor(
  pod: Pod,
  join: Join,
  namespace: NamespaceFacts,
): ProofRequirements | undefined {
  const holding = holdingProfiles(pod, join, namespace.labels);
  if (holding.length === 0) return undefined;
  const cached = cache.get(join) ?? new Map<string, ProofRequirements>();
  cache.set(join, cached);
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
 * The profiles that apply, and those that will once the pod has the annotations which the others give it: a later
 * call sees those annotations and has to come to the same answer.
 */
function holdingProfiles(pod: Pod, join: Join, namespaceLabels: Record<string, string>): Profile[] {
  let holding = join.profiles.filter((profile) => applies(profile, pod, namespaceLabels));
  for (;;) {
    const given: Record<string, string> = Object.assign({}, ...holding.map((profile) => profile.annotations));
    if (holding.length === join.profiles.length || Object.keys(given).length === 0) return holding;
    const annotations = { ...given, ...pod.metadata.annotations };
    const later = { ...pod, metadata: { ...pod.metadata, annotations } };
    const before = new Set(holding);
    holding = join.profiles.filter(
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

/** The check for one pod: what its profile leaves to the pod is settled. */
function checkWith(check: CheckOfProfile, served: Served | undefined, ids: Ids = {}): Check {
  const [redirect] = settingsOf([check], 'redirect');
  if (redirect === undefined) return check as Check;
  const { asUser, asGroup, notAsUser, notAsGroup } = ids;
  // what is undefined is left out of the JSON text
  return { redirect: { ...narrow(redirect, served), asUser, asGroup, notAsUser, notAsGroup } } as Check;
}

/** Ids that profiles name themselves were compared when they were joined; those that the pod says come together here. */
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
    `the proof of this pod would have to run as ${clash}, which another of its checks (profiles ${names}) must not run as: ` +
      'give the proxies of the pod different ids, or the pod one of the profiles',
  );
}
