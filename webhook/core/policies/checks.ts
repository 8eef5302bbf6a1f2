import type { CheckOfProfile, FamiliesSource, Profile } from '../profiles/types.ts';
import { type Families, goTrue, narrow } from '../proof/families.ts';
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
export const valueIn = (container: string, variable: string): Cel =>
  first(`${containersNamed(container)}.map(c, ${variableOf('c', variable)}.orValue(""))`, '[""]');

function dualStackCel(container: string, variable: string): Cel {
  const isTrue = `${valueIn(container, variable)} in ${textList(goTrue)}`;
  return `(${isTrue} ? ${text('"families":"all"')} : ${text('"families":"first"')})`;
}

const octet = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const ipv4 = `${octet}([.]${octet}){3}:[1-9][0-9]{0,3}`;
// does not match IPv4-mapped addresses, such as [::ffff:1.2.3.4]
const ipv6 = '\\[([0-9a-f]{1,4}(:[0-9a-f]{1,4}){0,5})?::([0-9a-f]{1,4})?\\]:[1-9][0-9]{0,3}';
/**
 * The listeners of a mesh's proxy that the policy reads: addresses of both families, separated by commas, or none. A
 * pattern for RE2 and for JavaScript, where `[]` would match nothing.
 */
export const plainListeners = `^((${ipv4}|${ipv6})(,(${ipv4}|${ipv6}))*)?$`;

/** The targets of the address families on which the proxy listens. A listener on [::] accepts both families. */
function connectCel({ settings }: Redirect, variable: string, container: string): Cel {
  const of = (families?: Families): Cel =>
    text(`"connect":${JSON.stringify(narrow(settings, families).connect)}`);
  const ipv4Too = 'v.matches("(^|,)[0-9]|[[][0:]+[]]")';
  const choice =
    `v == "" ? ${of()} : !v.contains("[") ? ${of({ ipv4: true, ipv6: false })} : ` +
    `${ipv4Too} ? ${of({ ipv4: true, ipv6: true })} : ${of({ ipv4: false, ipv6: true })}`;
  return `[${valueIn(container, variable)}].map(v, ${choice})[0]`;
}
