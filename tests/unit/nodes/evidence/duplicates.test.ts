import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { DuplicateWatch } from '../../../../webhook/nodes/evidence/duplicate-watch.ts';
import { duplicateAddresses } from '../../../../webhook/nodes/evidence/duplicates.ts';
import type { PodEvidence } from '../../../../webhook/nodes/evidence/facts.ts';
import { evidencePod, now } from './pods.ts';

const pod = (name: string, addresses: string[], more: Partial<PodEvidence> = {}): PodEvidence =>
  evidencePod(name, { addresses, ...more });

const found = (...pods: PodEvidence[]): string[] =>
  duplicateAddresses(pods).map(
    ({ network, address, older, younger }) => `${network}/${address} ${older.name} ${younger.name}`,
  );

suite('duplicate addresses', () => {
  test('two pods with one address, in either family and any network', () => {
    assert.deepEqual(found(pod('a', ['10.0.0.1']), pod('b', ['10.0.0.1'])), ['/10.0.0.1 a b']);
    assert.deepEqual(found(pod('b', ['fd00::1']), pod('a', ['10.0.0.1', 'fd00::1'])), ['/fd00::1 a b']);
    const network = 'kube-system/macvlan';
    assert.deepEqual(found(pod('a', [`${network}/10.9.0.1`]), pod('b', [`${network}/10.9.0.1`])), [
      `${network}/10.9.0.1 a b`,
    ]);
  });

  const none: [string, PodEvidence[]][] = [
    ['different addresses', [pod('a', ['10.0.0.1']), pod('b', ['10.0.0.2'])]],
    ['one address in two networks', [pod('a', ['x/one/10.0.0.1']), pod('b', ['x/two/10.0.0.1', '10.0.0.1'])]],
    ['one address twice in one pod', [pod('a', ['10.0.0.1', '10.0.0.1'])]],
    ['a pod that ended', [pod('a', ['10.0.0.1'], { ended: true }), pod('b', ['10.0.0.1'])]],
    [
      'a pod whose sandbox is gone',
      [pod('a', ['10.0.0.1'], { hasSandbox: false, leaving: true }), pod('b', ['10.0.0.1'])],
    ],
    ['the host network', [pod('a', []), pod('b', [])]],
  ];
  for (const [name, pods] of none) test(`none: ${name}`, () => assert.deepEqual(found(...pods), []));

  test('a kubelet that does not tell of sandboxes: its pods count', () => {
    assert.equal(found(pod('a', ['10.0.0.1'], { hasSandbox: undefined }), pod('b', ['10.0.0.1'])).length, 1);
  });

  test('of three pods, each younger one is found with the oldest', () => {
    const pods = ['c', 'a', 'b'].map((name) => pod(name, ['10.0.0.1']));
    assert.deepEqual(found(...pods), ['/10.0.0.1 a b', '/10.0.0.1 a c']);
  });

  test('pods of the same second: every replica takes the same one for the younger', () => {
    const [a, b] = [pod('a', ['10.0.0.1']), pod('b', ['10.0.0.1'], { createdAt: now - 600_000 + 97 })];
    assert.deepEqual(found(a, b), found(b, a));
  });

  test('claims between namespaces come last', () => {
    const pods = [
      pod('a', ['a/net/10.0.0.1']),
      pod('b', ['a/net/10.0.0.1'], { namespace: 'other' }),
      pod('c', ['z/net/10.0.0.1', '10.1.0.1']),
      pod('d', ['z/net/10.0.0.1', '10.1.0.1']),
    ];
    assert.deepEqual(found(...pods), ['/10.1.0.1 c d', 'z/net/10.0.0.1 c d', 'a/net/10.0.0.1 a b']);
  });
});

suite('what is reported', () => {
  const twoPods = [pod('a', ['10.0.0.1']), pod('b', ['10.0.0.1'])];
  const neverBooted = (): undefined => undefined;

  /** Looks once a second at pods that may change, and returns when something was reported. */
  function reports(
    seconds: number,
    podsAt: (second: number) => PodEvidence[],
    { bootedAt = neverBooted as (node: string) => number | undefined, failing = 0, max = 100 } = {},
  ): number[] {
    const watch = new DuplicateWatch();
    const times: number[] = [];
    let fails = failing;
    for (let second = 0; second <= seconds; second += 1) {
      const time = now + second * 1000;
      for (const one of watch.due(duplicateAddresses(podsAt(second)), bootedAt, time, max)) {
        times.push(second);
        if (fails-- > 0) watch.failed(one, time);
      }
    }
    return times;
  }

  test('two live pods: within five seconds, once', () =>
    assert.deepEqual(
      reports(600, () => twoPods),
      [3],
    ));

  test('our clock is set back by an hour before it counts: three seconds after that', () => {
    const watch = new DuplicateWatch();
    const hour = 3_600_000;
    const due = (time: number): number =>
      watch.due(duplicateAddresses(twoPods), neverBooted, time, 10).length;
    assert.deepEqual([now, now + 2000, now - hour, now - hour + 3000].map(due), [0, 0, 0, 1]);
  });

  test('an address that moves: the new pod is seen two seconds before the end of the old one: never', () => {
    const [old, next] = [pod('a', ['10.0.0.1']), pod('b', ['10.0.0.1'])];
    const ends = (second: number): PodEvidence[] => [{ ...old, ended: second >= 2 }, next];
    assert.deepEqual(reports(600, ends), []);
    assert.deepEqual(
      reports(600, (second) => (second < 2 ? [old, next] : [next])),
      [],
    );
  });

  test('a pod that is being deleted keeps its address for long: after half a minute', () => {
    const leaving = [pod('a', ['10.0.0.1'], { leaving: true }), pod('b', ['10.0.0.1'])];
    assert.deepEqual(
      reports(20, () => leaving),
      [],
    );
    assert.deepEqual(
      reports(600, () => leaving),
      [30],
    );
  });

  test('statuses from before a reboot are no duplicates', () => {
    const stale = (second: number): PodEvidence[] => (second < 20 ? twoPods : [pod('a', ['10.0.0.1'])]);
    const bootedAt = (node: string): number | undefined => (node === 'node-of-b' ? now - 1000 : undefined);
    assert.deepEqual(reports(600, stale, { bootedAt }), []);
    assert.deepEqual(
      reports(600, () => twoPods, { bootedAt }),
      [59],
    );
  });

  test('one that comes again is another one', () => {
    const blinks = (second: number): PodEvidence[] => (second >= 10 && second < 15 ? [] : twoPods);
    assert.deepEqual(reports(60, blinks), [3, 18]);
  });

  test('a report that failed is made again after a minute', () => {
    assert.deepEqual(
      reports(600, () => twoPods, { failing: 1 }),
      [3, 63],
    );
  });

  test('not more at once than asked for; the others follow', () => {
    const many = ['a', 'b', 'c', 'd'].map((name) => pod(name, ['10.0.0.1']));
    assert.deepEqual(
      reports(10, () => many, { max: 2 }),
      [3, 3, 4],
    );
  });

  test('invented addresses of one namespace do not hide those of others', () => {
    const invented = Array.from({ length: 2000 }, (_, at) => `a/net/10.9.${at >> 8}.${at & 255}`);
    const forged = ['a', 'b'].map((name) => pod(name, invented, { namespace: 'bad' }));
    const between = pod('c', invented, { namespace: 'worse' });
    const honest = ['d', 'e'].map((name) => pod(name, ['z/net/10.0.0.1']));
    const watch = new DuplicateWatch();
    const all = duplicateAddresses([...forged, between, ...honest]);
    watch.due(all, neverBooted, now, 10_000);
    const due = watch.due(all, neverBooted, now + 5000, 10_000);
    assert.ok(due.some(({ older }) => older.name === 'd'));
    assert.ok(due.length <= 1001, `${due.length}`);
  });

  test('it forgets what is over', () => {
    const watch = new DuplicateWatch();
    watch.due(duplicateAddresses(twoPods), neverBooted, now, 10);
    watch.due([], neverBooted, now + 1000, 10);
    assert.deepEqual(watch.due(duplicateAddresses(twoPods), neverBooted, now + 3000, 10), []);
  });
});
