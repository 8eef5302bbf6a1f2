import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { test } from 'node:test';
import { Agents } from '../../../webhook/kubernetes/agents.ts';

const over = (ca: string) => ({ server: 'https://api', headers: {}, tls: { ca } });

test('the pool stays while certificates stay, and is replaced with them', () => {
  const agents = new Agents();
  const first = agents.for(over('one'));
  assert.equal(agents.for({ ...over('one'), headers: { authorization: 'another token' } }), first);
  const second = agents.for(over('two'));
  assert.notEqual(second, first);
  assert.equal(agents.for(over('two')), second);
  agents.close();
});

test('a pool of a proxy is used as it is', () => {
  const agent = new Agent();
  assert.equal(new Agents().for({ ...over('one'), agent }), agent);
});
