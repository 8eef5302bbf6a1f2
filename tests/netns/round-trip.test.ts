import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Configuration } from '../../webhook/core/profiles/types.ts';
import { configurationOf } from '../support/configurations.ts';
import { nodeAddress, podAddress } from './harness/addresses.ts';
import { dialFrom } from './harness/dial.ts';
import { listen } from './harness/listeners.ts';
import { startProof } from './harness/proof.ts';
import { Sandbox } from './harness/sandbox.ts';
import { noted, states } from './table/states.ts';

/* The results of all checks in each state, compared with the truth: whether the node can connect to the pod. */

const passed = 'passed';
/** The time-outs of checks that must fail (`short`) or pass (`long`, which is enough for a busy machine). */
const [short, long] = ['2500ms', '20s'];

function configurationFor(link: string, answer: string): Configuration {
  return configurationOf({
    profiles: [
      {
        name: 'link',
        proof: { checks: [{ address: { timeout: link } }, { gateway: { required: true, timeout: link } }] },
      },
      { name: 'prefer', proof: { checks: [{ roundTrip: { mode: 'prefer', timeout: answer } }] } },
      { name: 'require', proof: { checks: [{ roundTrip: { mode: 'require', timeout: answer } }] } },
    ],
  });
}

describe('the round trip, compared with the truth', { concurrency: 6 }, () => {
  for (const state of states) {
    const { what, shape, step, works, roundTrip, connects } = state;
    const { address = passed, gateway = passed } = state;
    test(`${what}: ${works ? 'works' : 'broken'}`, async () => {
      await using sandbox = await Sandbox.make(shape);
      await listen(sandbox, 'pod', { host: '::', tcp: [80], manner: 'banner' });
      await step(sandbox);
      const linked = address === passed && gateway === passed;
      const configuration = configurationFor(linked ? long : short, roundTrip === passed ? long : short);
      const proof = await startProof(sandbox, { profile: 'link.prefer.require' }, { configuration }).ended;
      const silent = roundTrip !== passed;
      const expected = sandbox.familyList.flatMap((family) =>
        [
          `link: address ${address}`,
          `link: gateway ${gateway}`,
          `prefer: roundTrip ${silent ? noted : passed}`,
          `require: roundTrip ${roundTrip}`,
        ].map((line) => `${line} ${family}`),
      );
      assert.deepEqual(said(proof.log), expected.toSorted(), proof.log);
      // in a broken state, the connection must fail even from the node's own address, from which the kubelet dials
      const from = sandbox.familyList.map((family) => ({
        host: podAddress[family],
        port: 80,
        ...(!works && { from: nodeAddress[family] }),
      }));
      const answers = await dialFrom('node', sandbox, from);
      assert.deepEqual(
        answers.map((answer) => answer === 80),
        from.map(() => works),
        `${answers}`,
      );
      if (connects === undefined) return;
      await listen(sandbox, 'node', { host: '::', tcp: [80], manner: 'banner' });
      const own = sandbox.familyList.map((family) => ({ host: nodeAddress[family], port: 80 }));
      const got = await dialFrom('pod', sandbox, own);
      assert.deepEqual(
        got.map((answer) => answer === 80),
        own.map(() => connects),
        `${got}`,
      );
    });
  }
});

/** The result of each check in the log: `passed`, passed with a note, or the reason of the failure. */
function said(log: string): string[] {
  const line = /^(\w+): (\w+) IPv([46]) (?:passed|(?:failed|could not be proved) \((\S+)\)): (.*)$/gm;
  const last = new Map(
    [...log.matchAll(line)].map(([, profile, check, family, reason, rest = '']) => {
      const word = reason ?? (rest.includes(' Note: ') ? noted : passed);
      return [`${profile} ${check} ${family}`, `${profile}: ${check} ${word} ipv${family}`];
    }),
  );
  return [...last.values()].toSorted();
}
