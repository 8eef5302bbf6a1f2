import { readable } from '../facts/namespace.ts';
import type { Id, IdSource, Profile, RedirectSettings } from '../profiles/types.ts';
import { greatest, idText, imageUser } from '../proof/ids.ts';
import { applies, type Cel, first, head, list, map, text } from './cel.ts';

/*
 * The CEL counterpart of proof/ids.ts: the user and group ids of a proof. An id that may be missing is a list of at
 * most one number.
 */

/** The ids of a check, in the order of the check's JSON. */
export const idNames = ['asUser', 'asGroup', 'notAsUser', 'notAsGroup'] as const;

/** A redirect check of a profile, and the variable with its ids. */
export interface Redirect {
  profile: Profile;
  settings: RedirectSettings;
  variable: string;
}

export const redirectsOf = (profiles: readonly Profile[]): Redirect[] =>
  profiles
    .flatMap((profile) => profile.proof.checks.map((check) => ({ profile, check })))
    .flatMap(({ profile, check }, at) =>
      'redirect' in check ? [{ profile, settings: check.redirect, variable: `ids${at}` }] : [],
    );

/** An id of a redirect check, as a list; empty if the profile does not apply, or the check has no such id. */
export const idOf = ({ variable }: Pick<Redirect, 'variable'>, name: (typeof idNames)[number]): Cel =>
  `variables.${variable}.?${name}.orValue([])`;

/** The variables of the ids: those of each check, those of all checks together, and those of the init container. */
export function idVariables(redirects: readonly Redirect[]): Record<string, Cel> {
  const all = (name: (typeof idNames)[number]): Cel =>
    redirects.map((redirect) => idOf(redirect, name)).join(' + ') || '[]';
  const isExcluded = 'i in variables.notAsUsers || i in variables.notAsGroups';
  // ids from `nobody` downwards: each redirect excludes at most one user and one group, so one of these ids is free
  const candidates = list(
    Array.from({ length: 2 * redirects.length + 1 }, (_, index) => String(65_534 - index)),
  );
  return {
    podUser: 'object.spec.?securityContext.?runAsUser.optMap(i, [i]).orValue([])',
    podGroup: 'object.spec.?securityContext.?runAsGroup.optMap(i, [i]).orValue([])',
    ...Object.fromEntries(redirects.map((redirect) => [redirect.variable, idsOf(redirect)])),
    asUser: head([all('asUser')]),
    asGroup: head([all('asGroup'), 'variables.asUser']),
    notAsUsers: all('notAsUser'),
    notAsGroups: all('notAsGroup'),
    user: first('variables.podUser', `[${imageUser}]`),
    group: `size(variables.podGroup + variables.podUser) == 0 ? [${imageUser}] : variables.podGroup`,
    changesUser: 'variables.user == 0 || variables.user in variables.notAsUsers',
    changesGroup: 'variables.changesUser || variables.group.exists(g, g in variables.notAsGroups)',
    free: `${candidates}.filter(i, !(${isExcluded})).map(i, [i])[0]`,
    runAsUser: chosen('asUser', 'changesUser'),
    runAsGroup: chosen('asGroup', 'changesGroup'),
  };
}

/** The id that a check requires; otherwise, if a proof with the pod's own id would show nothing, a free id. */
const chosen = (required: string, changes: string): Cel =>
  `size(variables.asUser) > 0 ? variables.${required} : variables.${changes} ? variables.free : []`;

function idsOf({ profile, settings: { asUser, notAsUser, notAsGroup } }: Redirect): Cel {
  const group = typeof asUser === 'object' && asUser.containers ? { ...asUser, annotation: '' } : undefined;
  const ids = map({
    asUser: idCel(asUser, 'runAsUser', true),
    asGroup: idCel(group, 'runAsGroup', true),
    // without the id in the pod's securityContext, because the application has this id
    notAsUser: idCel(notAsUser, 'runAsUser', false),
    notAsGroup: idCel(notAsGroup, 'runAsGroup', false),
  });
  return `${applies(profile.name)} ? ${ids} : {}`;
}

function idCel(id: Id | undefined, field: 'runAsUser' | 'runAsGroup', ofPod: boolean): Cel {
  if (id === undefined) return '[]';
  if (typeof id === 'number') return `[${id}]`;
  return head([
    ...(id.annotation ? [inAnnotation(id.annotation)] : []),
    ...inContainers(id, field, ofPod),
    ...(id.default === undefined ? [] : [`[${id.default}]`]),
  ]);
}

/** An annotation of the pod, or else of its namespace; empty if neither has it. */
export function annotationCel(key: string): Cel {
  const [ofPod, ofNamespace] = ['object', 'namespaceObject'].map(
    (owner) => `[${owner}.metadata.?annotations[?${text(key)}].orValue("")]`,
  );
  const read = `${ofNamespace}.filter(a, a.matches(${text(readable.source)}))`;
  return first(`${ofPod}.filter(a, a != "")`, read, '[""]');
}

const inAnnotation = (key: string): Cel =>
  `[${annotationCel(key)}].filter(a, a.matches(${text(idText.source)})).map(a, int(a)).filter(i, i <= ${greatest})`;

/** The ids that these containers set; if none does, the pod's id. A container's 0 is no id, but overrides the pod's. */
function inContainers({ containers = [] }: IdSource, field: string, ofPod: boolean): Cel[] {
  if (containers.length === 0) return [];
  const named = containers.map((name) => containersNamed(name)).join(' + ');
  const said = `(${named}).filter(c, c.?securityContext.?${field}.hasValue()).map(c, c.securityContext.${field})`;
  const ofThePod = `size(${named}) > 0 && size(${said}) == 0 ? variables.pod${field.slice(5)} : []`;
  return [`(${said} + (${ofPod ? ofThePod : '[]'})).filter(i, i > 0)`];
}

/** The containers with this name: at most one in a valid pod. */
export const containersNamed = (name: string): Cel =>
  `variables.containers.filter(c, c.name == ${text(name)})`;
