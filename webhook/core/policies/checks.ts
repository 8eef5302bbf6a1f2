import type { CheckOfProfile, FamiliesSource, Profile } from '../profiles/types.ts';
import { goTrue, narrow, onlyIPv4 } from '../proof/families.ts';
import { type Cel, first, joined, list, text, textList } from './cel.ts';
import { containersNamed, idNames, idOf, type Redirect } from './ids.ts';
import { variableOf } from './selection.ts';

/* The CEL counterpart of proof/plan.ts and proof/families.ts: the checks of a profile as JSON. */

/** The checks of a profile as JSON objects, joined by commas. */
export const checksCel = (profile: Profile, redirects: readonly Redirect[]): Cel =>
  profile.proof.checks.map((check) => checkCel(profile, check, redirects)).join(' + "," + ') || '""';

/** The beginning of a check's JSON. The profile is a variable, so that profiles with equal checks share an expression. */
const ofP = '"{\\"profile\\":\\"" + p + "\\""';

function checkCel({ proof }: Profile, check: CheckOfProfile, redirects: readonly Redirect[]): Cel {
  const json = (settings: CheckOfProfile): Cel => `${ofP} + ${text(`,${JSON.stringify(settings).slice(1)}`)}`;
  if ('interfaces' in check) {
    const withDevices = { interfaces: { ...check.interfaces, devices: true } };
    return `(variables.hasDevices ? ${json(withDevices)} : ${json(check)})`;
  }
  const redirect = redirects.find(
    ({ profile, settings }) => profile.proof === proof && 'redirect' in check && settings === check.redirect,
  );
  if (redirect === undefined) return json(check);
  const fields = joined(list(fieldsOf(redirect, proof.families)));
  return `${ofP} + ${text(',"redirect":{')} + ${fields} + "}}"`;
}

/** The fields of a redirect check, in the order of the webhook's JSON. A missing field is an empty string. */
function fieldsOf(redirect: Redirect, families: FamiliesSource | undefined): Cel[] {
  const { skippedPorts: _, ...settings } = redirect.settings;
  const fields = new Map<string, Cel>(
    Object.entries(settings).map(([key, value]) => [key, text(`"${key}":${JSON.stringify(value)}`)]),
  );
  if (families?.env !== undefined)
    fields.set('connect', connectCel(redirect, families.env, families.container));
  if (families?.dualStackEnv !== undefined)
    fields.set('families', dualStackCel(families.container, families.dualStackEnv));
  for (const id of idNames)
    fields.set(id, `${idOf(redirect, id)}.map(i, ${text(`"${id}":`)} + string(i)).join("")`);
  return [...fields.values()];
}

/** The value of a container's environment variable; an empty string if there is none. */
const valueIn = (container: string, variable: string): Cel =>
  first(`${containersNamed(container)}.map(c, ${variableOf('c', variable)}.orValue(""))`, '[""]');

function dualStackCel(container: string, variable: string): Cel {
  const isTrue = `${valueIn(container, variable)} in ${textList(goTrue)}`;
  return `(${isTrue} ? ${text('"families":"all"')} : ${text('"families":"first"')})`;
}

/** The targets of the address families on which the proxy listens. */
function connectCel({ settings }: Redirect, variable: string, container: string): Cel {
  const of = (served?: 'ipv4'): Cel => text(`"connect":${JSON.stringify(narrow(settings, served).connect)}`);
  const isIPv4 = `${valueIn(container, variable)}.matches(${text(onlyIPv4.source)})`;
  return `(${isIPv4} ? ${of('ipv4')} : ${of()})`;
}
