import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Evidence } from '../../../../webhook/core/networks/evidence.ts';
import { nodeEvidence } from '../../../../webhook/lib/limits.ts';
import { evidenceWith, podEvidence, type Shown, start } from './support.ts';

const put = (evidence: Evidence, shown: Shown, listed = false): void =>
  evidence.apply([{ type: 'put', pod: podEvidence(shown), listed }], start);

suite('evidence', () => {
  test('finds the pods that a controller has now', () => {
    const evidence = new Evidence();
    for (const uid of ['a', 'b', 'c']) put(evidence, { uid, owner: 'web' });
    put(evidence, { uid: 'a', owner: 'other' });
    evidence.apply([{ type: 'gone', uid: 'b' }], start);
    const uids = (owner: string): string[] => Array.from(evidence.ownedBy(owner), ({ uid }) => uid);
    assert.deepEqual([uids('web'), uids('other')], [['c'], ['a']]);
  });

  test('a profile that does not exist has no records, and a removed one is forgotten', () => {
    const profiles = new Set(['mesh', 'base']);
    const evidence = new Evidence((name) => profiles.has(name));
    put(evidence, { uid: 'a', verdict: 'passed', profiles: ['mesh', 'base', 'gone'] });
    profiles.delete('mesh');
    evidence.profilesChanged();
    assert.deepEqual(
      ['mesh', 'base', 'gone'].map((name) => evidence.of(name, 'n1') !== undefined),
      [false, true, false],
    );
  });

  test('of the passes that a list shows, the latest counts', () => {
    const evidence = evidenceWith([30, 10].map((at) => ({ verdict: 'passed', at })));
    assert.equal(evidence.of('mesh', 'n1')?.lastPass?.at, start + 30_000);
  });

  test('of the owners that have passed, those that passed longest ago are forgotten', () => {
    const evidence = new Evidence();
    for (let index = 0; index <= nodeEvidence.passedOwners; index += 1) {
      put(evidence, { uid: 'a', owner: `o${index}`, verdict: 'passed' });
      if (index === 10) put(evidence, { uid: 'b', owner: 'o0', verdict: 'passed' });
    }
    const owners = ['o0', 'o1', 'o2', `o${nodeEvidence.passedOwners}`];
    assert.deepEqual(owners.map(evidence.hasPassed), [true, false, true, true]);
  });

  test('the records are bounded', () => {
    const evidence = new Evidence();
    for (let index = 0; index < nodeEvidence.nodes + 100; index += 1) {
      put(evidence, { uid: 'a', node: `n${index}`, verdict: 'passed' });
    }
    const kept = Array.from({ length: nodeEvidence.nodes + 100 }, (_, index) =>
      evidence.of('mesh', `n${index}`),
    );
    assert.equal(kept.filter((record) => record !== undefined).length, nodeEvidence.nodes);
    assert.equal(kept[0], undefined, 'the oldest are forgotten first');
    for (let owner = 0; owner < 100; owner += 1) {
      put(evidence, { uid: `p${owner}`, owner: `o${owner}`, verdict: 'failed' });
    }
    assert.equal(evidence.of('mesh', 'n1')?.failures.size, nodeEvidence.owners);
  });
});
