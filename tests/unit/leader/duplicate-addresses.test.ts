import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { PodEvidence } from '../../../webhook/core/facts/pod-evidence.ts';
import { duplicateAddresses } from '../../../webhook/core/networks/duplicate-addresses.ts';
import { DuplicateWatch } from '../../../webhook/leader/duplicate-addresses.ts';
import { evidencePod, now } from '../core/networks/pods.ts';

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
    const young = pod('a', ['10.0.0.1'], { createdAt: now });
    assert.deepEqual(found(young, pod('b', ['10.0.0.1'])), ['/10.0.0.1 b a'], 'the older one first');
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
    ['a pod that is being deleted', [pod('a', ['10.0.0.1'], { leaving: true }), pod('b', ['10.0.0.1'])]],
    ['a pod whose sandbox is gone', [pod('a', ['10.0.0.1'], { hasSandbox: false }), pod('b', ['10.0.0.1'])]],
    ['the host network', [pod('a', []), pod('b', [])]],
  ];
  for (const [name, pods] of none) test(`none: ${name}`, () => assert.deepEqual(found(...pods), []));
});

suite('a duplicate counts', () => {
  const twoPods = [pod('a', ['10.0.0.1']), pod('b', ['10.0.0.1'])];

  /** Compares pods every five seconds. @returns the first and the last second at which a duplicate counts, if any */
  function counts(seconds: number, podsAt: (second: number) => PodEvidence[]): number[] {
    const watch = new DuplicateWatch();
    const times: number[] = [];
    for (let second = 0; second <= seconds; second += 5) {
      const found = duplicateAddresses(podsAt(second));
      if (watch.lasting(found, now + second * 1000).length > 0) times.push(second);
    }
    return times.length === 0 ? [] : [times[0] ?? 0, times.at(-1) ?? 0];
  }

  test('from a minute on, as long as it lasts without a gap', () => {
    const withGap = (second: number): PodEvidence[] => (second === 55 ? [pod('a', ['10.0.0.1'])] : twoPods);
    assert.deepEqual(
      counts(70, () => twoPods),
      [60, 70],
    );
    assert.deepEqual(counts(125, withGap), [120, 125]);
  });

  test('even among invented addresses of other namespaces', () => {
    const invented = Array.from({ length: 2000 }, (_, at) => `a/net/10.9.${at >> 8}.${at & 255}`);
    const forged = ['a', 'b'].map((name) => pod(name, invented, { namespace: 'bad' }));
    const between = pod('c', invented, { namespace: 'worse' });
    const honest = ['d', 'e'].map((name) => pod(name, ['z/net/10.0.0.1']));
    const watch = new DuplicateWatch();
    const all = duplicateAddresses([...forged, between, ...honest]);
    watch.lasting(all, now);
    const due = watch.lasting(all, now + 60_000);
    assert.ok(due.some(({ older }) => older.name === 'd'));
    assert.ok(due.length <= 1001, `${due.length}`);
  });
});
