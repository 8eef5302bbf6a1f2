import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { cnitool, PluginChain } from './chain/chain.ts';
import { specimens } from './harness/pods.ts';
import { startProof } from './harness/proof.ts';
import { Sandbox } from './harness/sandbox.ts';
import { writeRules } from './rules/backends.ts';
import { linkerd } from './rules/linkerd.ts';

/* Runs a real plugin chain with the CNI project's own tool, with and without the mesh's plugin. */
before(cnitool);

/** An empty network namespace, as a runtime passes it to the plugins. */
const bare = { gateway: 'none' } as const;

describe('a chain of bridge, host-local and the mesh', { concurrency: 3 }, () => {
  test('in the chain: the proof passes for each new sandbox', async () => {
    await using chain = await PluginChain.make();
    await chain.configure({ withMesh: true });
    for (const _ of [1, 2]) {
      await using sandbox = await Sandbox.make(bare);
      const podIPs = await chain.add(sandbox);
      assert.equal(podIPs.length, 2, 'an address of each family');
      const proof = await startProof(sandbox, specimens.linkerd, { podIPs }).ended;
      assert.equal(proof.code, 0, proof.log);
      await chain.remove(sandbox);
    }
  });

  test('out of the chain: the sandbox has no rules; adding the plugin again helps only the next sandbox', async () => {
    await using chain = await PluginChain.make();
    await chain.configure({ withMesh: false });
    await using sandbox = await Sandbox.make(bare);
    const early = startProof(sandbox, specimens.linkerd, { podIPs: await chain.add(sandbox) });
    await early.started;
    await sleep(2000);
    await chain.configure({ withMesh: true });
    const failed = await early.ended;
    assert.equal(failed.code, 95, failed.log);
    assert.ok(failed.milliseconds > 5000, 'it went on trying after the plugin was back');
    // plugins run only when a sandbox is created, so this sandbox does not change, and the next one gets the rules
    await using next = await Sandbox.make(bare);
    const made = await startProof(next, specimens.linkerd, { podIPs: await chain.add(next) }).ended;
    assert.equal(made.code, 0, made.log);
  });

  test("out of the chain, then rules written into the running sandbox, as by Istio's repair: a retry passes", async () => {
    await using chain = await PluginChain.make();
    await chain.configure({ withMesh: false });
    await using sandbox = await Sandbox.make(bare);
    const running = startProof(sandbox, specimens.linkerd, { podIPs: await chain.add(sandbox) });
    await running.started;
    await sleep(2000);
    await writeRules(sandbox, linkerd());
    const proof = await running.ended;
    assert.equal(proof.code, 0, proof.log);
    assert.ok(proof.milliseconds > 2000, `${proof.milliseconds} ms`);
  });
});
