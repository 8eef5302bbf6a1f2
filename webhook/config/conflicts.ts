import { own } from '../lib/maps.ts';
import { foreign } from '../lib/names.ts';
import { type Condition, type Id, type Profile, wordOf } from './types.ts';

/** A value and the profile that sets it. */
interface Given {
  profile: string;
  value: string | number;
}

/** The text for a user id: a number, or where the pod sets it. */
function inWords(id: Id): string {
  if (typeof id === 'number') return String(id);
  const { annotation, containers = [], default: otherwise } = id;
  const places = [...(annotation === undefined ? [] : [`annotation ${annotation}`]), ...containers];
  return `of ${[...places, ...(otherwise === undefined ? [] : [`else ${otherwise}`])].join(', ')}`;
}

/**
 * Returns why one pod cannot satisfy these profiles, or an empty list if it can. The init container has one user id and
 * one network namespace, and a redirect answers any connect, so `reach` would pass falsely.
 */
export function conflicts(profiles: Profile[]): string[] {
  return [
    ...redirectConflicts(profiles),
    ...reachConflicts(profiles),
    ...containerConflicts(profiles),
    ...inboundConflicts(profiles),
    ...annotationConflicts(profiles),
    ...contradictions(profiles),
  ];
}

/** User ids and ports. Ids from a pod are compared for each pod: see `requirementsFor`. */
function redirectConflicts(profiles: Profile[]): string[] {
  const texts: string[] = [];
  const redirects = profiles.flatMap(({ name, proof }) =>
    proof.checks.flatMap((check) => ('redirect' in check ? [{ profile: name, ...check.redirect }] : [])),
  );
  const users = redirects.flatMap(({ profile, asUser }): Given[] =>
    asUser === undefined ? [] : [{ profile, value: inWords(asUser) }],
  );
  const [first] = users;
  const two = users.find((user) => user.profile !== first?.profile || user.value !== first?.value);
  if (two !== undefined && first !== undefined) {
    texts.push(`at most one profile may require a user id: ${tell(first)}, ${tell(two)}`);
  }
  for (const { profile, notAsUser } of redirects) {
    const clash = users.find(({ value }) => typeof notAsUser === 'number' && value === String(notAsUser));
    if (clash !== undefined) {
      texts.push(`${tell(clash)} is required by asUser and excluded by notAsUser of profile "${profile}"`);
    }
  }
  for (const [port, [one, other]] of Map.groupBy(redirects, ({ listen }) => listen)) {
    if (one === undefined || other === undefined) continue;
    const names = new Set([one, other].map(({ profile }) => `profile "${profile}"`));
    texts.push(`two redirect checks bind port ${port} (${[...names].join(' and ')})`);
  }
  return texts;
}

function reachConflicts(profiles: Profile[]): string[] {
  const having = (...words: string[]): Profile | undefined =>
    profiles.find(({ proof }) => proof.checks.some((check) => words.includes(wordOf(check))));
  const [reaching, capturing] = [having('reach'), having('redirect', 'captured')];
  return reaching === undefined || capturing === undefined
    ? []
    : [
        `check "reach" of profile "${reaching.name}" would be answered by the proxy that profile "${capturing.name}" redirects to`,
      ];
}

/** A pod has one init container, and a network's own validator runs none of our checks. */
function containerConflicts(profiles: Profile[]): string[] {
  const proving = profiles.filter(
    ({ proof: { container, checks, witness } }) => container ?? witness ?? checks[0],
  );
  const own = proving.find(({ proof }) => proof.container !== undefined);
  const other = proving.find((profile) => profile !== own);
  return own === undefined || other === undefined
    ? []
    : [
        `proof.container of profile "${own.name}" replaces the validator that profile "${other.name}" needs for its proof`,
      ];
}

/** The kubelet's one connection is redirected to one port. */
function inboundConflicts(profiles: Profile[]): string[] {
  const [first, second] = profiles.filter(({ proof }) => proof.inbound !== undefined);
  const witness = profiles.find(({ proof }) => proof.witness !== undefined);
  return witness === undefined || first === undefined || second === undefined
    ? []
    : [
        `proof.witness of profile "${witness.name}" can show one proof.inbound, not those of "${first.name}" and "${second.name}"`,
      ];
}

/** Annotations that two profiles set to different values. Lists of Multus networks are merged instead. */
function annotationConflicts(profiles: Profile[]): string[] {
  const seen = new Map<string, Given>();
  return profiles.flatMap((profile) =>
    Object.entries(profile.annotations).flatMap(([key, value]) => {
      const before = seen.get(key);
      seen.set(key, before ?? { profile: profile.name, value });
      return before === undefined || before.value === value || key === foreign.networks
        ? []
        : [
            `annotation ${key} is "${before.value}" for profile "${before.profile}" and "${value}" for "${profile.name}"`,
          ];
    }),
  );
}

/**
 * Annotations that one profile sets and that exclude another, or the same one: it would apply at the first call for a
 * pod and not at the second, which sees the annotation.
 */
function contradictions(profiles: Profile[]): string[] {
  const given = profiles.flatMap(({ name, annotations }) =>
    Object.entries(annotations).map(([key, value]) => ({ name, key, value })),
  );
  return profiles.flatMap((profile) =>
    given
      .filter(({ key, value }) => [profile.when].flat().some((condition) => rulesOut(condition, key, value)))
      .map(
        ({ name, key }) =>
          `profile "${profile.name}" excludes pods with the annotation ${key}, which profile "${name}" sets`,
      ),
  );
}

function rulesOut({ annotations }: Condition, key: string, value: string): boolean {
  const matcher = own(annotations, key);
  return typeof matcher === 'object' && (matcher.exists === false || matcher.notIn?.includes(value) === true);
}

const tell = (given: Given): string => `user ${given.value} of profile "${given.profile}"`;
