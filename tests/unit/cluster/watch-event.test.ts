import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Garbage } from '../../../webhook/cluster/informer/source.ts';
import { parseEvent } from '../../../webhook/cluster/informer/watch.ts';

const metadata = { name: 'a', uid: 'u', resourceVersion: '7' };

test('the events of a watch', () => {
  const parse = (type: string, object: unknown) => parseEvent(JSON.stringify({ type, object }));
  assert.deepEqual(parse('ADDED', { metadata }), { type: 'put', object: { metadata } });
  assert.deepEqual(parse('MODIFIED', { metadata }), { type: 'put', object: { metadata } });
  assert.deepEqual(parse('DELETED', { metadata }), { type: 'removed', object: { metadata } });
  const bookmark = { kind: 'Namespace', metadata: { resourceVersion: '9', creationTimestamp: null } };
  assert.deepEqual(parse('BOOKMARK', bookmark), { type: 'bookmark', resourceVersion: '9' });
  assert.deepEqual(parse('ERROR', { code: 410 }), { type: 'error', status: { code: 410 } });
  assert.deepEqual(parse('ERROR', null), { type: 'error', status: {} });
});

for (const line of [
  '',
  'null',
  '7',
  '<html>',
  '{"type":"ADDED"',
  '{"type":"ADDED","object":{}}',
  '{"type":"ADDED","object":{"metadata":{"name":"a"}}}',
  '{"type":"SURPRISE","object":{}}',
  '{"type":"BOOKMARK","object":{"metadata":null}}',
  '{"object":{}}',
]) {
  test(`garbage: ${line}`, () => {
    assert.throws(() => parseEvent(line), Garbage);
  });
}
