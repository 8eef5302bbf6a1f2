import assert from 'node:assert/strict';
import { test } from 'node:test';
import { witnessFor } from '../../../../webhook/core/proof/witness.ts';

type Arguments = Parameters<typeof witnessFor>;

/** The port of the kubelet's probe, and the mesh's if a rule redirects it. */
function portsFor(annotations: Record<string, string>): unknown[] {
  const inbound = {
    port: 15006,
    excludedBy: ['skip'],
    includedBy: 'only',
    transparent: { mode: 'TPROXY' },
    neverRedirected: [4190, 4191, 15020],
  };
  const place = { pod: { metadata: { annotations }, spec: {} }, namespace: { annotations: {} } };
  const profiles = [{ proof: { witness: 'kubelet' } }, { proof: { inbound } }];
  const check = witnessFor(place as unknown as Arguments[0], profiles as unknown as Arguments[1]);
  return [check?.port, check?.inbound, ...(check?.exempt ? [check.exempt] : [])];
}

test('the port of the probe is one that the mesh redirects', () => {
  assert.deepEqual(portsFor({ skip: '1-4189,4192-65535' }), [14040, undefined], 'left out in any pod');
  assert.deepEqual(portsFor({ only: '15006,15020' }), [14040, undefined], 'the mesh itself');
  const exempt = ['192.168.50.0/24'];
  assert.deepEqual(portsFor({ skip: '192.168.50.0/24,14040, net1' }), [14041, 15006, exempt]);
  assert.deepEqual(portsFor({ skip: 'net1, eth0' }), [14040, 15006, ['0.0.0.0/0', '::/0']]);
  assert.deepEqual(portsFor({ skip: 'net1' }), [14040, 15006]);
  assert.deepEqual(portsFor({ mode: 'REDIRECT' }), [14040, 15006]);
  assert.deepEqual(portsFor({ mode: 'TPROXY' }), [undefined, undefined], 'for the proxy alone');
  assert.deepEqual(portsFor({ skip: '014040' }), [14041, 15006], 'a leading zero');
  assert.deepEqual(portsFor({ only: '01234,9080' }), [9080, 15006], 'octal to iptables');
});
