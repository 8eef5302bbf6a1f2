import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { configurationOf } from '../support/configurations.ts';
import { startContainer } from './harness/container.ts';
import { environmentOf } from './harness/downward.ts';
import { injected, specimens } from './harness/pods.ts';
import { identityOf } from './harness/proof.ts';
import { Sandbox } from './harness/sandbox.ts';
import { writeRules } from './rules/backends.ts';
import { linkerd } from './rules/linkerd.ts';

/** The path of the stand-in for the validator in the mesh's image, and its path in this checkout. */
const program = '/app/linkerd2-network-validator.ts';
const standIn = fileURLToPath(new URL('./harness/mesh-validator.ts', import.meta.url));

const proxyUid = 'config.linkerd.io/proxy-uid';
const proxyGid = 'config.linkerd.io/proxy-gid';
const args = ['--connect-addr', '192.0.2.2:1404', '--listen-addr', '0.0.0.0:4140', '--timeout', '2s'];
const usual = { pod: specimens.linkerd, ids: { asUser: 65_534 }, rules: linkerd() };
/** A pod whose proxy has the same user and group as the pod itself, 1000. */
const own = {
  pod: {
    ...specimens.linkerd,
    annotations: { [proxyUid]: '1000', [proxyGid]: '1000' },
    runAsUser: 1000,
    runAsGroup: 1000,
  },
  rules: linkerd({ proxyUser: 1000, proxyGroup: 1000 }),
};
const notExempt = { notAsUser: { annotation: proxyUid }, notAsGroup: { annotation: proxyGid } };

describe("a mesh's own validator instead of ours", { concurrency: 3 }, () => {
  for (const [what, { pod, ids, rules }, expected] of [
    ['without rules', { ...usual, rules: undefined }, 95],
    ['with rules', usual, 0],
    ['with ids that the rule does not exempt', { ...own, ids: notExempt }, 0],
    ['with an exempted id', { ...own, ids: {} }, 95],
  ] as const)
    test(`${what}: ends with ${expected}`, async () => {
      const container = { imageOf: 'linkerd-proxy', command: ['/node', program], args, ...ids };
      const profile = { name: 'linkerd', when: { container: 'linkerd-proxy' }, proof: { container } };
      const seen = injected(pod, 'enforce', configurationOf({ profiles: [profile] }));
      const [node, ...command] = seen.container.command as string[];
      assert.equal(node, '/node');
      assert.equal(seen.container.image, 'registry.example/linkerd-proxy:1');
      await using sandbox = await Sandbox.make();
      if (rules) await writeRules(sandbox, rules);
      const { code, log } = await startContainer(sandbox, {
        args: [...command, ...(seen.container.args ?? [])],
        environment: environmentOf(seen.container, { pod: seen.pod, podIPs: [] }),
        mounts: { [program]: standIn },
        ...identityOf(seen.pod, seen.container, undefined),
      }).ended;
      assert.equal(code, expected, log);
      if (rules === undefined) assert.match(log, /Failed to validate/);
    });
});
