import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { test } from 'node:test';
import { Agents } from '../../../webhook/kubernetes/agents.ts';

const over = (ca: string) => ({ server: 'https://api', headers: {}, tls: { ca } });

test('one pool as long as certificates stay, and another when they are replaced', () => {
  const agents = new Agents();
  const first = agents.for(over('one'));
  assert.equal(agents.for({ ...over('one'), headers: { authorization: 'another token' } }), first);
  const second = agents.for(over('two'));
  assert.notEqual(second, first);
  assert.equal(agents.for(over('two')), second);
  agents.close();
});

test('the pool that leads through a proxy is taken as it is', () => {
  const agent = new Agent();
  assert.equal(new Agents().for({ ...over('one'), agent }), agent);
});
