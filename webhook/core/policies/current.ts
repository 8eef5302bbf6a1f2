import { decisiveVariables, mayBeAdded } from '../proof/current.ts';
import { allOf, anyOf, type Cel, text, textList } from './cel.ts';
import { sameAmount } from './resources.ts';

/*
 * The CEL counterpart of proof/current.ts: whether the pod's init container still does what is required. `c` is the
 * container that the pod has, and `w` the container that the policy wants.
 */

const added = textList([...mayBeAdded]);
const sameFields = [
  `c.all(k, k in ${added} || k in w && c[k] == w[k] || k == "imagePullPolicy" && c[k] == "Always")`,
  `w.all(k, k in ${added} || k in c)`,
];

const sameVariables = `c.?env.orValue([]).filter(e, e.name.matches(${text(decisiveVariables.source)})) == w.env`;

/** Another webhook may add only mounts of credentials, in /var/run/secrets. RE2 lacks lookahead: hence two matches. */
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

/** The security settings that another webhook may have added. */
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

/** Whether the pod's init container may stay unchanged. */
export const isCurrent: Cel = `[variables.inits[variables.ours]].all(c, [variables.wanted].all(w, c == w || ${allOf(
  [...sameFields, sameVariables, sameMounts, sameResources, sameRights],
)}))`;
