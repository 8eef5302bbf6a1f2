import assert from 'node:assert/strict';
import { test } from 'node:test';
import { witnessFor } from '../../../../webhook/admission/mutate/witness.ts';
import { policyOf } from '../../../support/configurations.ts';

type Arguments = Parameters<typeof witnessFor>;

/** The port of the kubelet's probe, and the mesh's if a rule redirects it. */
function portsFor(annotations: Record<string, string>): unknown[] {
  const inbound = { port: 15006, excludedBy: ['skip'], includedBy: 'only' };
  const place = { pod: { metadata: { annotations }, spec: {} }, namespace: { annotations: {} } };
  const profiles = [{ proof: { witness: 'kubelet' } }, { proof: { inbound } }];
  const check = witnessFor(place as unknown as Arguments[0], profiles as unknown as Arguments[1]);
  return [check?.port, check?.inbound];
}

test('the port of the probe is one that the mesh redirects', () => {
  assert.deepEqual(portsFor({ skip: '1-4189,4192-65535' }), [14040, undefined], 'of linkerd itself');
  assert.deepEqual(portsFor({ only: '15006,15020' }), [14040, undefined], 'of Istio itself');
  assert.deepEqual(
    portsFor({ skip: '192.168.50.0/24' }),
    [14040, undefined],
    'the node may be in the subnet',
  );
  assert.deepEqual(portsFor({ skip: '014040' }), [14041, 15006], 'a leading zero');
  assert.deepEqual(portsFor({ only: '01234,9080' }), [9080, 15006], 'octal to iptables');
});

test("linkerd's annotations are those of its profile", () => {
  const { profiles } = policyOf({ profiles: [{ name: 'seen', proof: { witness: 'kubelet' } }] });
  const inboundOf = (key: string, value: string): number | undefined => {
    const pod = {
      metadata: { annotations: { [`config.linkerd.io/${key}`]: value } },
      spec: { containers: [] },
    };
    const named = ['linkerd', 'seen'].flatMap((name) => profiles.get(name) ?? []);
    return witnessFor({ pod, namespace: { labels: {}, annotations: {} } }, named)?.inbound;
  };
  assert.equal(inboundOf('skip-inbound-ports', '25'), 4143);
  assert.equal(inboundOf('skip-subnets', '192.168.50.0/24'), undefined);
});
