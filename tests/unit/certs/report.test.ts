import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { reporter } from '../../../certs/report.ts';
import { newAuthority } from '../../../certs/rotation.ts';

for (const [skew, sentence] of [
  [30.6, "the clock of this machine is 31 s behind the API server's"],
  [-31, "the clock of this machine is 31 s ahead of the API server's"],
] as const) {
  test(`a clock that is wrong by ${skew} s is reported once`, async () => {
    const lines: string[] = [];
    const add = (_facts: object, text: string): void => void lines.push(text.replace(/, which.*/, ''));
    const [registry, client] = [new Registry(), { clockSkew: skew * 1000 }];
    const report = reporter({ info: add, warn: add, error: add }, registry, client);
    const state = { authority: newAuthority(1, new Date()) };
    report.agreed(state);
    report.agreed(state);
    const metric = await registry.getSingleMetric('cni_gate_api_server_clock_skew_seconds')?.get();
    assert.equal(metric?.values[0]?.value, skew);
    client.clockSkew = Math.sign(skew) * 30_000;
    report.agreed(state);
    assert.deepEqual(lines, [sentence, 'certificates: all is well again with the clock']);
  });
}
