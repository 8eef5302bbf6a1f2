import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Source } from '../../../webhook/kubernetes/reflector/list-all.ts';
import type { ApiObject } from '../../../webhook/kubernetes/reflector/object.ts';
import { Reflections } from '../../../webhook/kubernetes/reflector/reflections.ts';

type PodSource = Source<ApiObject, string>;

const source = (name: string, query = {}): PodSource => ({
  resource: `pods of ${name}`,
  path: `/api/v1/namespaces/${name}/pods`,
  query,
  pick: ({ metadata }) => metadata.name,
});

/** Reflections, each of which has one object, named as its source. */
function reflections() {
  const reported: string[] = [];
  const reflected = new Reflections<ApiObject, string>(
    ({ resource }: PodSource) => {
      reported.push(`start ${resource}`);
      return {
        synced: !resource.endsWith('late'),
        heardAt: 1,
        isBehind: false,
        hasTooLarge: () => false,
        whenSynced: () => (resource.endsWith('late') ? new Promise<void>(() => {}) : Promise.resolve()),
        subscribe: () => () => {},
        entries: () => [{ key: resource, uid: 'u', object: resource }],
        stop: () => reported.push(`stop ${resource}`),
      };
    },
    (changes) => reported.push(...changes.map(({ type, key }) => `${type} ${key}`)),
  );
  const watch = (...sources: [string, PodSource][]): string[] => {
    reported.length = 0;
    reflected.watch(new Map(sources));
    return [...reported];
  };
  return { reflected, watch };
}

test('sources come and go: what goes is told as gone, what stays is left alone', () => {
  const { reflected, watch } = reflections();
  assert.deepEqual(watch(['a', source('a')], ['b', source('b')]), ['start pods of a', 'start pods of b']);
  assert.deepEqual([...reflected.list()], ['pods of a', 'pods of b']);
  assert.deepEqual(watch(['b', source('b')]), ['stop pods of a', 'deleted pods of a']);
  assert.deepEqual([...reflected.list()], ['pods of b']);
});

test('a source that asks for something else begins anew', () => {
  const { watch } = reflections();
  watch(['a', source('a', { labelSelector: 'x' })]);
  assert.deepEqual(watch(['a', source('a', { labelSelector: 'x' })]), []);
  assert.deepEqual(watch(['a', source('a', { labelSelector: 'y' })]), [
    'stop pods of a',
    'deleted pods of a',
    'start pods of a',
  ]);
});

test('tells which have not been listed yet', () => {
  const { reflected, watch } = reflections();
  watch(['a', source('a')], ['late', source('late')]);
  assert.deepEqual(reflected.unsynced(), ['late']);
});
