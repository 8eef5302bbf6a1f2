import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { familiesOf, outsideAddress, podAddress } from './harness/addresses.ts';
import { type Dial, dial, dialFromNode } from './harness/dial.ts';
import { listen } from './harness/listeners.ts';
import { Sandbox } from './harness/sandbox.ts';
import { ambient } from './rules/ambient.ts';
import { backends, flushRules, writeRules } from './rules/backends.ts';
import { istio } from './rules/istio.ts';
import { linkerd } from './rules/linkerd.ts';

const inbound = familiesOf('dual').map((family) => ({ host: podAddress[family], port: 80 }));

/* The rule sets themselves behave like those of `linkerd2-proxy-init` and `istio-iptables`. */
const otherUser = 65_534;
const everywhere = { host: '::', manner: 'banner' } as const;
const passthrough = { ipv4: '127.0.0.6', ipv6: '::6' } as const;
const loopback = { ipv4: '127.0.0.1', ipv6: '::1' } as const;

describe('the rules of the meshes, written by each backend', { concurrency: 3 }, () => {
  for (const backend of backends) {
    test(`linkerd with ${backend}: the proxy's user and traffic on lo are exempt`, async () => {
      await using sandbox = await Sandbox.make();
      await writeRules(sandbox, linkerd(), { backend });
      await listen(sandbox, 'pod', { ...everywhere, tcp: [4140, 4143, 8080] });
      const dials = familiesOf('dual').flatMap((family) => [
        { host: outsideAddress[family], port: 1404 },
        { host: outsideAddress[family], port: 4567 },
        { host: loopback[family], port: 8080 },
      ]);
      assert.deepEqual(await dial(sandbox, otherUser, dials), [4140, 'silence', 8080, 4140, 'silence', 8080]);
      const proxys = ['silence', 'silence', 8080, 'silence', 'silence', 8080];
      assert.deepEqual(await dial(sandbox, 2102, dials), proxys);
      assert.deepEqual(await dialFromNode(sandbox, inbound), [4143, 4143]);
    });

    test(`istio with ${backend}: connections to 127.0.0.6 and ::6 come back only for the proxy's user`, async () => {
      await using sandbox = await Sandbox.make();
      await writeRules(sandbox, istio(), { backend });
      await listen(sandbox, 'pod', { ...everywhere, tcp: [15_001, 15_006] });
      const dials = familiesOf('dual').flatMap((family) => [
        { host: passthrough[family], port: 15_002, from: loopback[family] },
        { host: outsideAddress[family], port: 1404 },
      ]);
      assert.deepEqual(await dial(sandbox, 1337, dials), [15_006, 'silence', 15_006, 'silence']);
      const others = ['ECONNREFUSED', 15_001, 'ECONNREFUSED', 15_001];
      assert.deepEqual(await dial(sandbox, otherUser, dials), others);
      assert.deepEqual(await dialFromNode(sandbox, inbound), [15_006, 15_006]);
    });

    test(`ambient with ${backend}: outbound connections reach ztunnel, 127.0.0.6 does not`, async () => {
      await using sandbox = await Sandbox.make();
      await writeRules(sandbox, ambient(), { backend });
      await listen(sandbox, 'pod', { ...everywhere, tcp: [15_001, 15_006, 15_053] });
      const dials: Dial[] = familiesOf('dual').flatMap((family) => [
        { host: outsideAddress[family], port: 1404 },
        { host: outsideAddress[family], port: 53 },
      ]);
      dials.push({ host: passthrough.ipv4, port: 15_002 });
      const seen = [15_001, 15_053, 15_001, 15_053, 'ECONNREFUSED'];
      assert.deepEqual(await dial(sandbox, otherUser, dials), seen);
      assert.deepEqual(await dial(sandbox, 1337, dials), seen);
      assert.deepEqual(await dialFromNode(sandbox, inbound), [15_006, 15_006]);
    });
  }

  test('a flush leaves no rule', async () => {
    await using sandbox = await Sandbox.make();
    await writeRules(sandbox, linkerd());
    await flushRules(sandbox);
    await listen(sandbox, 'pod', { ...everywhere, tcp: [4140] });
    assert.deepEqual(await dial(sandbox, otherUser, [{ host: outsideAddress.ipv4, port: 1404 }]), [
      'silence',
    ]);
  });
});
