import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Change, Store } from '../../../../webhook/cluster/informer/store.ts';
import { optedInBy } from '../../../../webhook/cluster/view/watch-namespaces.ts';
import type { NamespaceFacts } from '../../../../webhook/core/facts/namespace.ts';

const labels = { 'cni-gate.io/profile': 'cilium' };

test('opting in and out is reported, at most once every five seconds, and other changes are not', (t) => {
  const store = new Store<NamespaceFacts>();
  let tell: (changes: Change<NamespaceFacts>[]) => void = () => {};
  const subscribe = (subscriber: typeof tell) => {
    tell = subscriber;
    return () => {};
  };
  let version = 0;
  const put = (key: string, object: NamespaceFacts): void => {
    version += 1;
    tell(store.put({ key, uid: key, resourceVersion: `${version}`, object }));
  };
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.mock.method(performance, 'now', () => 0);
  let reported = 0;
  optedInBy({ store, subscribe }).subscribe(() => {
    reported += 1;
  });
  const after = (milliseconds: number): number => {
    t.mock.timers.tick(milliseconds);
    return reported;
  };
  put('a', { labels: {} });
  tell(store.remove('a'));
  assert.equal(after(10_000), 0);
  put('a', { labels });
  assert.equal(after(200), 1);
  put('a', { labels: { ...labels, team: 'x' } });
  assert.equal(after(10_000), 1);
  put('a', { labels: {} });
  put('b', { labels });
  assert.deepEqual([after(4_999), after(1)], [1, 2]);
});
