import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { configurationOf } from '../support/configurations.ts';
import { injected } from './harness/admission.ts';
import { type ContainerEnd, startContainer } from './harness/container.ts';
import { environmentOf } from './harness/downward.ts';
import { requireMachine } from './harness/machine.ts';
import { specimens } from './harness/pods.ts';
import { identityOf } from './harness/proof.ts';
import { Sandbox } from './harness/sandbox.ts';
import { writeRules } from './rules/backends.ts';
import { linkerd } from './rules/linkerd.ts';

/** The path of the substitute in the mesh's image, and in this checkout. */
const program = '/app/linkerd2-network-validator.ts';
const standIn = fileURLToPath(new URL('./harness/mesh-validator.ts', import.meta.url));

const args = ['--connect-addr', '192.0.2.2:1404', '--listen-addr', '0.0.0.0:4140', '--timeout', '2s'];
const container = { imageOf: 'linkerd-proxy', command: ['/node', program], args, asUser: 65_534 };
const profile = { name: 'linkerd', when: { container: 'linkerd-proxy' }, proof: { container } };

/** Runs the container that the webhook injects into a pod of that profile, as a kubelet would. */
function prove(sandbox: Sandbox): Promise<ContainerEnd> {
  const seen = injected(specimens.linkerd, 'enforce', configurationOf({ profiles: [profile] }));
  const [node, ...command] = seen.container.command as string[];
  assert.equal(node, '/node');
  assert.equal(seen.container.image, 'registry.example/linkerd-proxy:1');
  return startContainer(sandbox, {
    args: [...command, ...(seen.container.args ?? [])],
    environment: environmentOf(seen.container, { pod: seen.pod, podIPs: [] }),
    mounts: { [program]: standIn },
    ...identityOf(seen.pod, seen.container, undefined),
  }).ended;
}

before(requireMachine);

describe("a mesh's own validator instead of ours", { concurrency: 3 }, () => {
  test('without rules: blocks the pod with its own exit code and message', async () => {
    await using sandbox = await Sandbox.make();
    const { code, log } = await prove(sandbox);
    assert.equal(code, 95, log);
    assert.match(log, /Failed to validate/);
  });

  test('with rules: the pod starts', async () => {
    await using sandbox = await Sandbox.make();
    await writeRules(sandbox, linkerd());
    const { code, log } = await prove(sandbox);
    assert.equal(code, 0, log);
  });
});
