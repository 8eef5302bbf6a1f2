import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { podAddress, secondAddress } from './harness/addresses.ts';
import { specimens } from './harness/pods.ts';
import { startProof } from './harness/proof.ts';
import { bootId, Sandbox } from './harness/sandbox.ts';
import { writeRules } from './rules/backends.ts';
import { istio } from './rules/istio.ts';
import { linkerd } from './rules/linkerd.ts';
import { runCommand } from './table/plan.ts';
import { addSecondInterface, flush, networkStatusOf, write } from './table/steps.ts';

/* The validator as a kubelet starts it: a signal, and its termination message. */
describe('started as by a kubelet', { concurrency: 3 }, () => {
  test('the message names the sandbox', async () => {
    await using sandbox = await Sandbox.make();
    await writeRules(sandbox, istio());
    const { code, message, log, termination } = await startProof(sandbox, specimens.istio).ended;
    assert.equal(code, 0, log);
    assert.deepEqual(message.sandbox, { netns: String(sandbox.inode), bootId: bootId() });
    assert.equal(termination.trim().split('\n').length, 1);
  });

  test('SIGTERM while a check is retried: the log lists it as open, and the message omits it', async () => {
    const pod = { ...specimens.linkerd, ...specimens.multus, profile: 'linkerd.multus' };
    const { code, log, message } = await runCommand(
      {
        before: [write(linkerd())],
        while: [
          { after: 2000, step: flush },
          { after: 2200, step: addSecondInterface() },
          { after: 4000, step: (_, proof) => proof?.signal('SIGTERM') },
        ],
        options: { networkStatus: networkStatusOf('dual', podAddress, secondAddress) },
      },
      { ...pod, sidecars: specimens.linkerd.sidecars },
    );
    assert.equal(code, 143, log);
    assert.match(log, /with these still open: linkerd redirect IPv4, linkerd redirect IPv6;/);
    assert.deepEqual(
      message.checks.map(({ check }) => check),
      ['interfaces'],
    );
  });
});
