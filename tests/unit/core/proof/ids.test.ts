import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { annotationsOf } from '../../../../webhook/core/facts/namespace.ts';
import type { Pod, SecurityContext } from '../../../../webhook/core/facts/pod.ts';
import type { Identity } from '../../../../webhook/core/profiles/types.ts';
import { idsIn, runAsFor } from '../../../../webhook/core/proof/ids.ts';
import { copyOf } from '../../../support/answers.ts';

interface Given {
  first?: SecurityContext | null;
  second?: SecurityContext | null;
  ofPod?: SecurityContext;
  annotation?: string;
  ofNamespace?: string;
}

const key = 'mesh.example/uid';
const source = { annotation: key, containers: ['first', 'second'], default: 7 };

function podOf({ first, second, ofPod, annotation }: Given): Pod {
  return {
    metadata: { ...(annotation !== undefined && { annotations: { [key]: annotation } }) },
    spec: {
      initContainers: first === undefined ? [] : [{ name: 'first', securityContext: first }],
      containers: second === undefined ? [] : [{ name: 'second', securityContext: second }],
      ...(ofPod && { securityContext: ofPod }),
    },
  };
}

/** Without the ids that are undefined. */
const ids = (given: Given, identity: Identity = { asUser: source }) =>
  copyOf(
    idsIn(identity, {
      pod: podOf(given),
      namespace: {
        labels: {},
        ...(given.ofNamespace !== undefined && { annotations: { [key]: given.ofNamespace } }),
      },
    }),
  );

suite('the sources of an id', () => {
  const users: [title: string, given: Given, user: number][] = [
    ['nothing says one', {}, 7],
    ['the first container before the second', { first: { runAsUser: 1 }, second: { runAsUser: 2 } }, 1],
    ['the second where the first has none', { first: {}, second: { runAsUser: 2 } }, 2],
    ['null is none', { first: { runAsUser: null }, second: null, ofPod: { runAsUser: 3 } }, 3],
    ['a container before the pod', { second: { runAsUser: 2 }, ofPod: { runAsUser: 3 } }, 2],
    ["the pod's where a container is there without one", { second: {}, ofPod: { runAsUser: 3 } }, 3],
    ["not the pod's where none of the containers is there", { ofPod: { runAsUser: 3 } }, 7],
    ['root is no answer, of a container', { first: { runAsUser: 0 }, second: { runAsUser: 2 } }, 2],
    [
      'a root container does not fall back to the pod',
      { second: { runAsUser: 0 }, ofPod: { runAsUser: 3 } },
      7,
    ],
    ['root is no answer, of the pod', { second: {}, ofPod: { runAsUser: 0 } }, 7],
    ['an annotation before a container', { annotation: '4', second: { runAsUser: 2 } }, 4],
    ["the pod's annotation before the namespace's", { annotation: '4', ofNamespace: '5' }, 4],
    ["an empty annotation is none: the namespace's", { annotation: '', ofNamespace: '5' }, 5],
    ['an annotation that is no id', { annotation: 'x', second: { runAsUser: 2 } }, 2],
    ['an annotation that is root', { annotation: '0' }, 7],
    ['an annotation below 0', { annotation: '-1' }, 7],
    ['an annotation above what Kubernetes takes', { annotation: '2147483648' }, 7],
    ['the greatest id', { annotation: '2147483647' }, 2147483647],
    ['an annotation of many digits', { annotation: '9'.repeat(30) }, 7],
  ];
  for (const [title, given, user] of users) {
    test(`${title}: ${user}`, () => assert.equal(ids(given).asUser, user));
  }

  test('the group of asUser comes from the same containers; 0 counts as absent', () => {
    assert.deepEqual(ids({ second: { runAsUser: 2, runAsGroup: 3 } }), { asUser: 2, asGroup: 3 });
    assert.deepEqual(ids({ first: { runAsUser: 2, runAsGroup: 0 } }), { asUser: 2, asGroup: 7 });
    assert.deepEqual(ids({ second: {}, ofPod: { runAsUser: 2, runAsGroup: 3 } }), { asUser: 2, asGroup: 3 });
    assert.deepEqual(ids({}, { asUser: 5 }), { asUser: 5 }, 'a number says nothing of a group');
    const annotated = { asUser: { annotation: key, default: 7 } };
    assert.deepEqual(ids({ annotation: '4' }, annotated), { asUser: 4 });
  });

  test('notAsUser and notAsGroup without a value exclude nothing', () => {
    const excluded = { notAsUser: { annotation: key }, notAsGroup: { containers: ['second'] } };
    assert.deepEqual(ids({}, excluded), {});
    const ofPod = { runAsUser: 1000, runAsGroup: 1000 };
    assert.deepEqual(ids({ second: {}, ofPod }, excluded), {}, "the pod's ids are the application's");
    assert.deepEqual(ids({ annotation: '4', second: { runAsGroup: 6 } }, excluded), {
      notAsUser: 4,
      notAsGroup: 6,
    });
  });
});

test('the proof runs as the first id from `nobody` downwards that no mesh exempts', () => {
  const ids = { asUser: undefined, asGroup: undefined, notAsUsers: [64_532, 65_534], notAsGroups: [65_533] };
  assert.deepEqual(runAsFor(podOf({}), ids, 64_532), { runAsUser: 65_532, runAsGroup: 65_532 });
});

suite('annotations of a namespace', () => {
  test('only numeric annotations are kept, up to a limit', () => {
    assert.deepEqual(annotationsOf({ a: '1', b: 'x', c: 7, d: '', e: '1.5', f: '9'.repeat(21) }), {
      annotations: { a: '1' },
    });
    for (const none of [undefined, null, {}, { a: 'x' }]) assert.deepEqual(annotationsOf(none), {});
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`a${at}`, String(at)]));
    assert.equal(Object.keys(annotationsOf(many).annotations ?? {}).length, 64);
  });
});
