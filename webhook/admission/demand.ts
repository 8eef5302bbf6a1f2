import type { Check, ProfileCheck } from '../../validator/contract.ts';
import { settingsOf, wordOf } from '../config/checks.ts';
import type { Join } from '../config/policy.ts';
import type { Profile, ProofContainer } from '../config/types.ts';
import { type Families, familiesIn, narrow } from './families.ts';
import type { Pod } from './pod.ts';
import { applies } from './when.ts';

/** What the profiles that promise something to a pod ask of it, all together. */
export interface Demand {
  profiles: Profile[];
  /** The checks as one JSON text for the init container; empty where it makes none. */
  checksJson: string;
  /** A network's own validator, which makes the proof in place of ours. */
  container: ProofContainer | undefined;
  /** The words, each once, in the order of the profiles; `container` stands for a network's own validator. */
  words: string[];
  /** The user id that a check must run as. */
  asUser: number | undefined;
  /** User ids that a check must not run as. */
  notAsUsers: number[];
}

/** Demands by join, then by which of its profiles apply: the same few come again and again. */
const cache = new WeakMap<Join, Map<string, Demand>>();

/** The demand of those profiles of a join that apply to this pod, or undefined where none does. */
export function demandOn(pod: Pod, join: Join, namespaceLabels: Record<string, string>): Demand | undefined {
  const holding = holdingProfiles(pod, join, namespaceLabels);
  if (holding.length === 0) return undefined;
  const demands = cache.get(join) ?? new Map<string, Demand>();
  cache.set(join, demands);
  const families = holding.map((profile) => familiesIn(pod, profile));
  const key = holding.map(({ name }, at) => name + keyOf(families[at])).join('.');
  const demand = demands.get(key) ?? makeDemand(holding, families);
  demands.set(key, demand);
  return demand;
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

const keyOf = (families: Families | undefined): string =>
  families === undefined ? '' : `:${families.ipv4 ? 4 : ''}${families.ipv6 ? 6 : ''}`;

function makeDemand(profiles: Profile[], families: (Families | undefined)[]): Demand {
  const told = profiles.flatMap(({ name, proof }, at) =>
    narrow(proof.checks, families[at]).map((check): ProfileCheck => ({ profile: name, ...check })),
  );
  const checks: Check[] = profiles.flatMap((profile) => profile.proof.checks);
  const redirects = settingsOf(checks, 'redirect');
  const container = profiles.find(({ proof }) => proof.container !== undefined)?.proof.container;
  const users = container === undefined ? redirects : [...redirects, container];
  return {
    profiles,
    checksJson: told.length === 0 ? '' : JSON.stringify(told),
    container,
    words: [...new Set<string>([...checks.map(wordOf), ...(container ? ['container'] : [])])],
    asUser: users.find((user) => user.asUser !== undefined)?.asUser,
    notAsUsers: users.flatMap((user) => user.notAsUser ?? []),
  };
}
