import { isDeepStrictEqual as same } from 'node:util';
import { getOwn } from '../../lib/maps.ts';
import { joinedAnnotation } from './annotations.ts';
import { type Condition, checkNameOf, type Profile } from './types.ts';

/** The reasons why no pod can satisfy all these profiles; an empty list if there are none. */
export function conflicts(profiles: Profile[]): string[] {
  return [
    ...redirectConflicts(profiles),
    ...reachConflicts(profiles),
    ...[containerConflict(profiles), inboundConflict(profiles)].flatMap((text) => text ?? []),
    ...continuousConflicts(profiles),
    ...annotationConflicts(profiles),
    ...contradictions(profiles),
    ...replacedConflicts(profiles),
  ];
}

/** Compares user ids and ports that profiles name. `planFor` compares ids that come from a pod. */
function redirectConflicts(profiles: Profile[]): string[] {
  const redirects = profiles.flatMap(({ name, proof }) =>
    proof.checks.flatMap((check) => ('redirect' in check ? [{ profile: name, ...check.redirect }] : [])),
  );
  const texts: string[] = [];
  const [first, ...others] = redirects.filter(({ asUser }) => asUser !== undefined);
  const second = others.find(
    ({ profile, asUser }) => profile !== first?.profile || !same(asUser, first.asUser),
  );
  if (first !== undefined && second !== undefined)
    texts.push(`at most one profile may require a user id, not "${first.profile}" and "${second.profile}"`);
  const excluding = redirects.find(({ notAsUser }) => notAsUser === first?.asUser);
  if (first !== undefined && excluding !== undefined)
    texts.push(
      `profile "${excluding.profile}" excludes user ${first.asUser}, which profile "${first.profile}" requires`,
    );
  for (const [port, [first, second]] of Map.groupBy(redirects, ({ listen }) => listen)) {
    if (first === undefined || second === undefined) continue;
    const names = new Set([first, second].map(({ profile }) => `profile "${profile}"`));
    texts.push(`two redirect checks bind port ${port} (${[...names].join(' and ')})`);
  }
  return texts;
}

function reachConflicts(profiles: Profile[]): string[] {
  const having = (...words: string[]): Profile | undefined =>
    profiles.find(({ proof }) => proof.checks.some((check) => words.includes(checkNameOf(check))));
  const capturing = having('redirect', 'captured');
  return ['reach', 'policy'].flatMap((word) => {
    const reaching = having(word);
    if (reaching === undefined || capturing === undefined) return [];
    return `check "${word}" of profile "${reaching.name}" would be answered by the proxy that profile "${capturing.name}" redirects to`;
  });
}

function containerConflict(profiles: Profile[]): string | undefined {
  const proving = profiles.filter(
    ({ proof: { container, checks, witness, continuous } }) =>
      container ?? witness ?? continuous ?? checks[0],
  );
  const own = proving.find(({ proof }) => proof.container !== undefined);
  const second = proving.find((profile) => profile !== own);
  if (own === undefined || second === undefined) return undefined;
  return `proof.container of profile "${own.name}" replaces the validator that profile "${second.name}" needs for its proof`;
}

/** The kubelet makes one connection to the pod, which can be redirected to one port only. */
function inboundConflict(profiles: Profile[]): string | undefined {
  const [first, second] = profiles.filter(({ proof }) => proof.inbound !== undefined);
  const witness = profiles.find(({ proof }) => proof.witness !== undefined);
  if (witness === undefined || first === undefined || second === undefined) return undefined;
  return `proof.witness of profile "${witness.name}" can show one proof.inbound, not those of "${first.name}" and "${second.name}"`;
}

/** Rechecks repeat the checks of all profiles of a pod, so the settings of two profiles must be equal. */
function continuousConflicts(profiles: Profile[]): string[] {
  const [first, ...others] = profiles.filter(({ proof }) => proof.continuous !== undefined);
  if (first === undefined) return [];
  const second = others.find(({ proof }) => !same(proof.continuous, first.proof.continuous));
  // annotations that get the readiness probe's port: a profile that selects pods by these could stop applying
  const added = profiles.flatMap(({ proof }) =>
    first.proof.continuous?.onFailure === 'log' ? [] : (proof.inbound?.excludedPorts ?? []),
  );
  const readers = profiles.flatMap(({ name, when }) =>
    added
      .filter((key) => [when].flat().some(({ annotations }) => getOwn(annotations, key) !== undefined))
      .map((key) => ({ name, key })),
  );
  return [
    ...(second ? [`profiles "${first.name}" and "${second.name}" differ in proof.continuous`] : []),
    ...readers.map(
      ({ name, key }) =>
        `proof.continuous of profile "${first.name}" adds a port to the annotation ${key}, by which profile "${name}" selects pods`,
    ),
  ];
}

/** Whether a profile with `proof.witness` is missing: rechecks need its container, which runs as long as the pod. */
export const lacksWitness = (profiles: readonly Profile[]): boolean =>
  profiles.some(({ proof }) => proof.continuous !== undefined) &&
  !profiles.some(({ proof }) => proof.witness !== undefined);

/** Annotations that two profiles set to different values, unless both values can be joined. */
function annotationConflicts(profiles: Profile[]): string[] {
  const seen = new Map<string, { profile: string; value: string }>();
  return profiles.flatMap((profile) =>
    Object.entries(profile.annotations).flatMap(([key, value]) => {
      const before = seen.get(key);
      seen.set(key, before ?? { profile: profile.name, value });
      return before === undefined || joinedAnnotation(key, before.value, value) !== undefined
        ? []
        : [
            `annotation ${key} is "${before.value}" for profile "${before.profile}" and "${value}" for "${profile.name}"`,
          ];
    }),
  );
}

/**
 * Finds annotations that one profile sets, and by which another or the same profile excludes pods. The excluding
 * profile would apply in the first call for a pod, but not in the second call, which sees the annotation.
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
  const matcher = getOwn(annotations, key);
  return typeof matcher === 'object' && (matcher.exists === false || matcher.notIn?.includes(value) === true);
}

/** Finds containers that a profile reads but that a later call no longer sees, because a profile replaces them. */
function replacedConflicts(profiles: Profile[]): string[] {
  return profiles.flatMap(({ name, proof: { replaces = [] } }) =>
    replaces.flatMap((container) =>
      profiles
        .filter((profile) => containersReadBy(profile).includes(container))
        .map(
          (reader) =>
            `profile "${reader.name}" reads container "${container}", which profile "${name}" removes (proof.replaces)`,
        ),
    ),
  );
}

/** The containers that a profile reads, except that of `imageOf`, which each condition of `when` requires anyway. */
function containersReadBy({ when, proof }: Profile): (string | undefined)[] {
  const redirects = proof.checks.flatMap((check) => ('redirect' in check ? [check.redirect] : []));
  const ids = [...redirects, ...(proof.container ? [proof.container] : [])].flatMap(
    ({ asUser, notAsUser, notAsGroup }) => [asUser, notAsUser, notAsGroup],
  );
  return [
    ...[when].flat().flatMap(({ container, noContainer }) => [container, noContainer]),
    ...ids.flatMap((id) => (typeof id === 'object' ? (id.containers ?? []) : [])),
    proof.families?.container,
  ];
}
