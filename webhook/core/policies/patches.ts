import { podInfoVolume, profileLabel, statusAnnotation } from '../../lib/names.ts';
import type { ProofSettings } from '../profiles/types.ts';
import { podInfo } from '../proof/container.ts';
import { type Cel, list, literal, map, text, textList } from './cel.ts';
import { markCel } from './left.ts';

/* The CEL counterpart of proof/patch.ts: the patches of a pod as lists of JSONPatch objects. */

const patch = (op: string, path: Cel, value?: Cel): Cel =>
  `JSONPatch{op: "${op}", path: ${path}${value === undefined ? '' : `, value: ${value}`}}`;
const add = (path: Cel, value: Cel): Cel => patch('add', path, value);
/** A list of patches that depends on a condition. By default, there is no patch if the condition is false. */
const when = (condition: Cel, then: Cel, otherwise = '[]'): Cel => `(${condition} ? ${then} : ${otherwise})`;

/** Adds an item to a list of the pod's spec. A list without items may be absent, so it is created. */
const insert = (field: string, size: Cel, at: string, item: Cel): Cel =>
  when(
    `${size} == 0`,
    list([add(text(`/spec/${field}`), list([item]))]),
    list([add(text(`/spec/${field}/${at}`), item)]),
  );

/** Removes an item from a list of the pod's spec. */
const remove = (field: string, at: Cel): Cel =>
  list([patch('remove', `${text(`/spec/${field}/`)} + string(${at})`)]);

/** Sets an entry of the labels or annotations. */
function entry(field: 'labels' | 'annotations', key: string, value: Cel): Cel {
  const path = `${text(`/metadata/${field}/`)} + jsonpatch.escapeKey(${text(key)})`;
  return when(
    `object.metadata.?${field}.hasValue()`,
    list([add(path, value)]),
    list([add(text(`/metadata/${field}`), `{${text(key)}: ${value}}`)]),
  );
}

const removeEntry = (field: string, key: string): Cel =>
  list([patch('remove', `${text(`/metadata/${field}/`)} + jsonpatch.escapeKey(${text(key)})`)]);

const proves = 'size(variables.checkNames) > 0';
const ours = '"/spec/initContainers/" + string(variables.ours)';

const injection = when(
  'variables.ours < 0',
  insert('initContainers', 'size(variables.inits)', '0', 'variables.wanted'),
  `${when('variables.isCurrent', '[]', list([patch('replace', ours, 'variables.wanted')]))} + ${when(
    'variables.ours > 0',
    list([`JSONPatch{op: "move", from: ${ours}, path: "/spec/initContainers/0"}`]),
  )}`,
);

/**
 * Removes the containers that the proof replaces, after our container became the first. A pod may have several
 * containers with the same name, and each removal shifts the later ones.
 */
const replaced = `variables.replaced.map(r, ${patch(
  'remove',
  '"/spec/initContainers/" + string(r - size(variables.replaced.filter(s, s < r)) + ' +
    '(variables.ours < 0 || r < variables.ours ? 1 : 0))',
)})`;

const containers = (replaces: boolean): Cel =>
  when(
    proves,
    replaces ? `${injection} + ${replaced}` : injection,
    when('variables.ours >= 0', remove('initContainers', 'variables.ours')),
  );

const volumeCel = literal(podInfo());
const mountsIt = `c.?volumeMounts.orValue([]).exists(m, m.name == ${text(podInfoVolume)})`;
const volume = when(
  'variables.hasInterfaces',
  when(
    'variables.volume < 0',
    insert('volumes', 'size(variables.volumes)', '-', volumeCel),
    list([patch('replace', '"/spec/volumes/" + string(variables.volume)', volumeCel)]),
  ),
  when(
    `variables.volume >= 0 && !variables.others.exists(c, ${mountsIt})`,
    remove('volumes', 'variables.volume'),
  ),
);

/** Adds the configured imagePullSecrets that the pod lacks. */
function secrets({ imagePullSecrets }: ProofSettings): Cel {
  const present = 'object.spec.?imagePullSecrets.orValue([])';
  const missing = `${textList(imagePullSecrets)}.filter(n, !${present}.exists(s, s.?name.orValue("") == n))`;
  const secret = map({ name: 'n' });
  return when(
    proves,
    when(
      `size(${present}) > 0`,
      `${missing}.map(n, ${add(text('/spec/imagePullSecrets/-'), secret)})`,
      list([add(text('/spec/imagePullSecrets'), `${textList(imagePullSecrets)}.map(n, ${secret})`)]),
    ),
  );
}

/**
 * Injects, updates or removes the proof, or marks a pod that is left to the webhook. If there is no change, the patch
 * is a `test` operation that fails: the API server then drops the patch, and need not decode an unchanged pod.
 * Source: k8s.io/apiserver `pkg/admission/plugin/policy/mutating/patch/json_patch.go`, `Patch`
 *
 * @param replaces whether the proof of a profile replaces init containers
 */
export const patchesCel = (proof: ProofSettings, replaces: boolean): Cel =>
  `[${changesCel(proof, replaces)}].map(p, size(p) > 0 ? p : ${list([patch('test', text('/kind'), text('unchanged'))])})[0]`;

const changesCel = (proof: ProofSettings, replaces: boolean): Cel =>
  when(
    'variables.left != ""',
    entry('annotations', statusAnnotation, markCel('variables.left')),
    [
      containers(replaces),
      volume,
      ...(proof.imagePullSecrets.length > 0 ? [secrets(proof)] : []),
      when(
        'size(variables.profiles) > 0',
        when(
          'variables.ownLabel == variables.profile',
          '[]',
          entry('labels', profileLabel, 'variables.profile'),
        ),
        when('variables.isCopied', removeEntry('labels', profileLabel)),
      ),
      when(
        'variables.isExempt && !variables.isRecorded',
        removeEntry('annotations', statusAnnotation),
        when(
          'variables.status == variables.newStatus',
          '[]',
          entry('annotations', statusAnnotation, 'variables.newStatus'),
        ),
      ),
    ].join(' + '),
  );
