import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { specimens } from './harness/pods.ts';
import { istio } from './rules/istio.ts';
import { linkerd } from './rules/linkerd.ts';
import { type Plan, runCommand, type Step } from './table/plan.ts';
import { listenInPod, write } from './table/steps.ts';

/** Switches IPv6 off in the pod. */
const withoutIPv6: Step = async (sandbox) => {
  await sandbox.exec('pod', 'sh', ['-c', 'echo 1 | tee /proc/sys/net/ipv6/conf/*/disable_ipv6']);
};

const meshes = [
  { network: 'linkerd', rules: linkerd(), port: 4140 },
  { network: 'istio', rules: istio(), port: 15_006 },
] as const;

describe('pods of one family', { concurrency: 6 }, () => {
  test("istio, IPv6, no rules and no route to the mesh's own address: not-redirected", async () => {
    const plan: Plan = { shape: { families: 'ipv6', gateway: 'none' } };
    const { code, message, log } = await runCommand(plan, specimens.istio);
    assert.deepEqual([code, message.checks[0]?.reason], [95, 'not-redirected'], log);
  });

  for (const { network, rules, port } of meshes) {
    const cases: [name: string, families: 'ipv4' | 'ipv6', steps: Step[], code: 0 | 69 | 95][] = [
      ['IPv4, right rules', 'ipv4', [write(rules)], 0],
      ['IPv4 on a node that has IPv6 switched off, right rules', 'ipv4', [withoutIPv6, write(rules)], 0],
      ['IPv4, no rules', 'ipv4', [], 95],
      ['IPv4, port taken', 'ipv4', [write(rules), listenInPod(port)], 69],
      ['IPv6, right rules', 'ipv6', [write(rules)], 0],
      ['IPv6, no rules', 'ipv6', [], 95],
      ['IPv6, port taken', 'ipv6', [write(rules), listenInPod(port)], 69],
    ];
    for (const [name, families, steps, expected] of cases) {
      test(`${network}, ${name}`, async () => {
        const plan = { shape: { families }, before: steps };
        const { code, log } = await runCommand(plan, specimens[network]);
        assert.equal(code, expected, log);
      });
    }
  }
});
