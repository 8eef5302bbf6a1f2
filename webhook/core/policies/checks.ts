import { narrow } from '../proof/families.ts';
import type { CheckOfProfile, Id, IdSource, Profile, RedirectSettings } from '../profiles/types.ts';
import { allOf, byName, type Cel, joined, list, text, textList } from './cel.ts';
import { variableOf } from './selection.ts';

/*
 * The checks of a profile as JSON, and the ids that they require: proof/plan.ts, families.ts and ids.ts as expressions.
 * An id is a list of at most one number.
 */

/** The ids of a profile's redirect, each a variable of the policy. */
export interface IdVariables {
  asUser: Cel;
  asGroup: Cel;
  notAsUser: Cel;
  notAsGroup: Cel;
}

const none = '[]';

/** The ids of a redirect. */
export function idsCel({ asUser, notAsUser, notAsGroup }: RedirectSettings): IdVariables {
  return {
    asUser: idCel(asUser, 'runAsUser', true),
    asGroup:
      typeof asUser === 'object' && asUser.containers
        ? orDefault(inContainers(asUser.containers, 'runAsGroup', true), asUser)
        : none,
    notAsUser: idCel(notAsUser, 'runAsUser', false),
    notAsGroup: idCel(notAsGroup, 'runAsGroup', false),
  };
}

function idCel(id: Id | undefined, field: 'runAsUser' | 'runAsGroup', ofPod: boolean): Cel {
  if (id === undefined) return none;
  if (typeof id === 'number') return list([String(id)]);
  const inside = orDefault(id.containers ? inContainers(id.containers, field, ofPod) : none, id);
  if (id.annotation === undefined) return inside;
  return `[${annotationCel(id.annotation)}].map(a, a == "" ? ${inside} : [int(a)])[0]`;
}

const orDefault = (ids: Cel, { default: id }: IdSource): Cel =>
  id === undefined ? ids : `[${ids}].map(ids, size(ids) > 0 ? ids : [${id}])[0]`;

/** An annotation of the pod, or else of its namespace; empty if there is none. */
export const annotationCel = (key: string): Cel =>
  `[object.metadata.?annotations[?${text(key)}].orValue(""), namespaceObject.metadata.?annotations[?${text(key)}].orValue("")].filter(a, a != "").join(" ").split(" ")[0]`;

/** Annotations with an id that the policy does not read: it is left to the webhook. */
export const oddId = (key: string): Cel => `!${annotationCel(key)}.matches("^([1-9][0-9]{0,8})?$")`;

/** The id of the first of these containers that has one, else the pod's. An explicit 0 ends the search. */
function inContainers(names: readonly string[], field: string, ofPod: boolean): Cel {
  const named = `${textList(names)}.map(n, variables.containers.filter(c, c.name == n)).filter(l, size(l) > 0).map(l, l[0])`;
  const said = `named.filter(c, c.?securityContext.?${field}.hasValue()).map(c, c.securityContext.${field})`;
  const pod = `size(named) > 0 && object.spec.?securityContext.?${field}.orValue(0) > 0 ? [object.spec.securityContext.${field}] : []`;
  return (
    `[${named}].map(named, [${said}].map(said, size(said) > 0 ? said.filter(i, i > 0).map(i, [i]) + [[]] : ` +
    `[${ofPod ? pod : none}])[0][0])[0]`
  );
}

/** The checks of a profile as JSON objects, joined by commas. @param ids of its redirect */
export const checksCel = (profile: Profile, ids: IdVariables): Cel =>
  profile.proof.checks
    .map((check) => checkCel(profile, check, ids))
    .join(' + "," + ') || '""';

function checkCel(profile: Profile, check: CheckOfProfile, ids: IdVariables): Cel {
  const json = (settings: CheckOfProfile): Cel => text(JSON.stringify({ profile: profile.name, ...settings }));
  if ('interfaces' in check) {
    const withDevices = { interfaces: { ...check.interfaces, devices: true } };
    return `(variables.hasDevices ? ${json(withDevices)} : ${json(check)})`;
  }
  if (!('redirect' in check)) return json(check);
  const { skippedPorts: _, ...settings } = check.redirect;
  const { dualStackEnv } = profile.proof.families ?? {};
  const keys = Object.keys({ ...settings, ...(dualStackEnv && { families: '' }), ...ids });
  const parts = keys.map((key): Cel => {
    if (key in ids) {
      const id = ids[key as keyof IdVariables];
      return id === none ? '""' : `${id}.map(i, ${text(`"${key}":`)} + string(i)).join("")`;
    }
    if (key === 'connect') return connectCel(profile, check.redirect);
    if (key === 'families') return familiesCel(profile);
    return text(`"${key}":${JSON.stringify(settings[key as keyof typeof settings])}`);
  });
  return `${text(`{"profile":"${profile.name}","redirect":{`)} + ${joined(parts)} + "}}"`;
}

/** The targets of the families that the mesh's listener serves, by its usual forms. */
function connectCel({ proof }: Profile, redirect: RedirectSettings): Cel {
  const of = (ipv4: boolean, ipv6: boolean): Cel =>
    text(`"connect":${JSON.stringify(narrow(redirect, { ipv4, ipv6 }).connect)}`);
  const all = text(`"connect":${JSON.stringify(redirect.connect)}`);
  const { container, env } = proof.families ?? {};
  if (container === undefined || env === undefined) return all;
  return `[${familyVariable(container, env)}].map(v, v == "" ? ${all} : v.startsWith("[") ? ${of(true, true)} : ${of(true, false)})[0]`;
}

const familyVariable = (container: string, env: string): Cel =>
  `variables.containers.filter(c, c.name == ${text(container)}).map(c, ${variableOf('c', env)}.orValue("")).join(" ").split(" ")[0]`;

/** Whether the listener of a mesh's proxy has another form than `0.0.0.0:PORT` and `[::]:PORT`. */
export function oddFamilies({ proof }: Profile): Cel[] {
  const { container, env } = proof.families ?? {};
  if (container === undefined || env === undefined) return [];
  return [`!${familyVariable(container, env)}.matches("^((0[.]0[.]0[.]0|[[]::[]]):[0-9]+)?$")`];
}

function familiesCel({ proof }: Profile): Cel {
  const { container = '', dualStackEnv = '' } = proof.families ?? {};
  const isDual = `${familyVariable(container, dualStackEnv)} in ["1", "t", "T", "true", "TRUE", "True"]`;
  return `(${isDual} ? ${text('"families":"all"')} : ${text('"families":"first"')})`;
}

/** Conditions under which the checks of a profile are left to the webhook, with the reason. */
export function leftOf(profile: Profile): [reason: string, condition: Cel][] {
  const { proof, annotations } = profile;
  const redirects = proof.checks.flatMap((check) => ('redirect' in check ? [check.redirect] : []));
  const keys = redirects.flatMap(({ asUser, notAsUser, notAsGroup }) =>
    [asUser, notAsUser, notAsGroup].flatMap((id) => (typeof id === 'object' ? (id.annotation ?? []) : [])),
  );
  const skipped = redirects.flatMap(({ skippedPorts }) => skippedPorts ?? []);
  return [
    ...(Object.keys(annotations).length > 0 ? [['annotations', 'true'] as [string, Cel]] : []),
    ...(proof.container ? [['own-validator', 'true'] as [string, Cel]] : []),
    ...(proof.witness ? [['witness', 'true'] as [string, Cel]] : []),
    ...skipped.map((key): [string, Cel] => ['skipped-ports', `${annotationCel(key)} != ""`]),
    ...keys.map((key): [string, Cel] => ['ids', oddId(key)]),
    ...oddFamilies(profile).map((odd): [string, Cel] => ['families', odd]),
  ].map(([reason, condition]) => [reason, allOf([`${text(profile.name)} in variables.profiles`, condition])]);
}

/** By the name of a profile, what it has in a variable of lists, joined in the label's order. */
export const ofProfiles = (values: Iterable<readonly [string, Cel]>): Cel =>
  `variables.profiles.map(p, ${byName('p', values, '""')}).filter(t, t != "").join(",")`;
