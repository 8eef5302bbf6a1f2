import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { podAddress, secondAddress } from './harness/addresses.ts';
import { injected, type PodSpecimen, specimens } from './harness/pods.ts';
import { startProof } from './harness/proof.ts';
import { bootId, Sandbox } from './harness/sandbox.ts';
import { writeRules } from './rules/backends.ts';
import { istio } from './rules/istio.ts';
import { linkerd } from './rules/linkerd.ts';
import { runCommand } from './table/plan.ts';
import { addSecondInterface, flush, networkStatusOf, write } from './table/steps.ts';

/* The validator as a kubelet starts it: users, combined profiles, a signal, and its termination message. */
describe('started as by a kubelet', { concurrency: 3 }, () => {
  const users: [who: string, runAsUser: number, runs: number][] = [
    ['a user of an OpenShift range', 1_000_680_000, 1_000_680_000],
    ["the proxy's own user, whom the webhook puts another in the place of", 2102, 65_534],
    ['root, whom the webhook puts another in the place of', 0, 65_534],
  ];
  for (const [who, runAsUser, runs] of users) {
    test(`linkerd is proved in a pod that runs as ${who}`, async () => {
      const specimen: PodSpecimen = { ...specimens.linkerd, runAsUser };
      const { pod, container } = injected(specimen);
      assert.equal(container.securityContext?.runAsUser ?? pod.spec.securityContext?.runAsUser, runs);
      const { code, log } = await runCommand({ before: [write(linkerd())] }, specimen);
      assert.equal(code, 0, log);
    });
  }

  test('the message names the sandbox', async () => {
    await using sandbox = await Sandbox.make();
    await writeRules(sandbox, istio());
    const { code, message, log, termination } = await startProof(sandbox, specimens.istio).ended;
    assert.equal(code, 0, log);
    assert.deepEqual(message.sandbox, { netns: String(sandbox.inode), bootId: bootId() });
    assert.equal(termination.trim().split('\n').length, 1);
  });

  test('SIGTERM while a check is retried: it is among the open ones', async () => {
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
