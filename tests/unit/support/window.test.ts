import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { PodWrite } from '../../node/harness/history.ts';
import { boundIn, boundWhile, windowOf } from '../../node/harness/window.ts';

const write = (version: number, name: string, more: Partial<PodWrite> = {}): PodWrite => ({
  version: BigInt(version),
  seen: 0,
  uid: name,
  namespace: 'shop',
  name,
  node: undefined,
  ready: false,
  phase: 'Pending',
  leaving: false,
  address: undefined,
  proof: undefined,
  containers: [],
  refusal: undefined,
  ...more,
});

const agent = (version: number, ready: boolean, id: string): PodWrite =>
  write(version, 'agent', { namespace: 'net', node: 'n1', ready, containers: [id] });
const isAgent = ({ namespace }: PodWrite): boolean => namespace === 'net';

const nodes = [
  { version: 1n, bootID: 'first', ready: true },
  { version: 20n, bootID: 'second', ready: true },
];
const agents = [
  agent(2, true, 'old'),
  agent(21, true, 'old'),
  agent(30, false, 'new'),
  agent(40, true, 'new'),
];

suite('the window of a reboot, read from versions', () => {
  test('a status that is Ready with the old container does not close it, nor a new one that is not Ready', () => {
    assert.deepEqual(windowOf({ nodes, pods: agents }, 'second', isAgent), { opened: 20n, closed: 40n });
    assert.equal(windowOf({ nodes, pods: agents.slice(0, 3) }, 'second', isAgent), undefined);
    assert.equal(windowOf({ nodes, pods: agents }, 'third', isAgent), undefined);
  });

  test('under way is who was made before it opened and bound before the first refusal; all others count', () => {
    const pairs: [name: string, made: number, bound: number][] = [
      ['before', 10, 12],
      ['under-way', 19, 22],
      ['made-in-it', 21, 23],
      ['made-before-bound-late', 18, 26],
      ['after', 25, 41],
    ];
    const pods = pairs.flatMap(([name, made, bound]) => [
      write(made, name),
      write(bound, name, { node: 'n1' }),
      write(bound + 1, name, { node: 'n1', ready: true }),
    ]);
    const bound = boundIn({ nodes, pods: [...agents, ...pods] }, 'shop');
    assert.deepEqual(boundWhile({ opened: 20n, closed: 40n }, 25n, bound), {
      known: ['made-in-it', 'made-before-bound-late'],
      underWay: ['under-way'],
    });
  });
});
