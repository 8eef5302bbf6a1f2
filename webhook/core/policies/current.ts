import { decisiveVariables, mayBeAdded } from '../proof/current.ts';
import { allOf, anyOf, type Cel, text, textList } from './cel.ts';
import { sameAmount } from './resources.ts';

/*
 * Whether the pod's init container still does what is required: proof/current.ts as an expression. `c` is the pod's
 * container, and `w` the wanted one.
 */

const added = textList([...mayBeAdded]);
const sameFields = [
  `c.all(k, k in ${added} || k in w && c[k] == w[k] || k == "imagePullPolicy" && c[k] == "Always")`,
  `w.all(k, k in ${added} || k in c)`,
];

const sameVariables = `c.?env.orValue([]).filter(e, e.name.matches(${text(decisiveVariables.source)})) == w.env`;

/** Only mounts of credentials may be added: directories below /var/run/secrets. RE2 cannot look ahead. */
const isCredential = 'm.mountPath.matches("^/var/run/secrets/.") && !m.mountPath.matches("//|/[.][.]?(/|$)")';
const sameMounts =
  'c.?volumeMounts.orValue([]).filter(m, variables.mounts.exists(o, o.mountPath == m.mountPath) || ' +
  `!(${isCredential})) == variables.mounts`;

const sameResources = anyOf([
  'variables.hasPodResources',
  `["requests", "limits"].all(f, ["cpu", "memory"].all(n, ${sameAmount(
    'c.?resources[?f][?n]',
    'w.?resources[?f][?n]',
  )}))`,
]);

/** The rights that another webhook may have added. */
const mayHave = anyOf([
  'k == "runAsUser" && r[k] != 0 && !(r[k] in variables.notAsUsers)',
  'k == "runAsGroup" && !(r[k] in variables.notAsGroups)',
  'k == "seLinuxOptions" && !r[k].?type.hasValue()',
  'k == "appArmorProfile" && r[k].?type.orValue("") != "Unconfined"',
  'k == "privileged" && r[k] == false',
]);
const sameRights =
  '[c.?securityContext.orValue({})].all(r, w.securityContext.all(k, k in r && r[k] == w.securityContext[k]) && ' +
  `r.all(k, k in w.securityContext || ${mayHave}))`;

/** Whether the init container that the pod has may stay. */
export const isCurrent: Cel = `[variables.inits[variables.ours]].all(c, [variables.wanted].all(w, c == w || ${allOf(
  [...sameFields, sameVariables, sameMounts, sameResources, sameRights],
)}))`;
