import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type AnnotatedPod, requiredProfiles } from '../../../../webhook/core/facts/status-annotation.ts';

const checks = (...profiles: string[]): { name: string; value: string } => ({
  name: 'CNI_GATE_CHECKS',
  value: JSON.stringify(profiles.map((profile) => ({ profile, address: { timeout: '5s' } }))),
});
const validator = (...env: { name: string; value: string }[]) => ({ name: 'cni-gate-validator', env });

function pod(
  status: string | undefined,
  initContainers: NonNullable<AnnotatedPod['spec']>['initContainers'] = [],
  labels = {},
): AnnotatedPod {
  const annotations = status === undefined ? null : { 'cni-gate.io/status': status };
  return { metadata: { annotations, labels }, spec: { initContainers } };
}

suite('requiredProfiles', () => {
  const label = { 'cni-gate.io/profile': 'cilium.mesh' };
  const checksOf = (value: string) => [validator({ name: 'CNI_GATE_CHECKS', value })];
  const mesh = '{"profiles":["mesh"]}';
  const cases: [what: string, pod: AnnotatedPod, expected: string[]][] = [
    ['none, without label, annotation and container', { metadata: {} }, []],
    ['those that the annotation names', pod('{"profiles":["mesh",7]}'), ['mesh']],
    ['none, if the annotation is invalid', pod('{"profiles":"mesh"'), []],
    ['none by a label alone: the pod may be exempt', pod(undefined, [], label), []],
    ['those that the container names', pod(undefined, [validator(checks('a', 'b', 'a'))]), ['a', 'b']],
    [
      'those of the container, even if the annotation names none',
      pod('{"profiles":[]}', [validator(checks('a'))]),
      ['a'],
    ],
    ['also those that the annotation names', pod(mesh, [validator(checks('a'))]), ['mesh', 'a']],
    [
      'those that the label names, if the container has no checks',
      pod(undefined, [validator(checks())], label),
      ['cilium', 'mesh'],
    ],
    ['the last of two variables counts', pod('', [validator(checks('a'), checks('mesh'))]), ['mesh']],
    ['a container that is not ours', pod(undefined, [{ name: 'cni-gate-validator' }], label), []],
    ['checks that cannot be read name none', pod(mesh, checksOf('[null,{]')), ['mesh']],
    ['neither do checks without a profile name', pod(mesh, checksOf('[null,{"profile":1}]')), ['mesh']],
  ];
  for (const [what, asked, expected] of cases) {
    test(what, () => assert.deepEqual(requiredProfiles(asked), expected));
  }
});
