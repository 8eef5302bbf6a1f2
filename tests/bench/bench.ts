/** `npm run bench`: compares the time to answer a review with the time to parse it, and the server with bare `node:https`. */
import { mutate } from '../../webhook/admission/mutate.ts';
import { parseConfiguration } from '../../webhook/config/load.ts';
import { Policy } from '../../webhook/core/profiles/policy.ts';
import { recorded } from '../support/reviews.ts';
import { type Row, report } from './report.ts';
import { servers } from './servers.ts';

const body = JSON.stringify(recorded('pod-statefulset-db'), null, 2);

/** Measures the microseconds per call: the median of several batches. */
function time(call: () => void): number {
  const batch = 2000;
  for (let warm = 0; warm < batch; warm++) call();
  const figures = Array.from({ length: 9 }, () => {
    const start = process.hrtime.bigint();
    for (let index = 0; index < batch; index++) call();
    return Number(process.hrtime.bigint() - start) / 1000 / batch;
  });
  return figures.toSorted((a, b) => a - b)[4] ?? Number.NaN;
}

function decisions(): Row[] {
  const policy = new Policy(parseConfiguration());
  const namespaces = { facts: () => ({ labels: { 'cni-gate.io/profile': 'cilium.linkerd' } }) };
  const parse = time(() => JSON.parse(body));
  const whole = time(() => {
    const { review } = mutate(JSON.parse(body), { policy, namespaces });
    JSON.stringify(review);
  });
  console.log(`parse a review of ${body.length} bytes           ${parse.toFixed(1)} us   1.00`);
  console.log(
    `parse, decide, apply the patch, answer   ${whole.toFixed(1)} us   ${(whole / parse).toFixed(2)}`,
  );
  const [figure, conditions] = ['parse, decide, apply the patch, answer', `in-process, ${body.length} bytes`];
  return [
    { figure, conditions, measured: whole, unit: 'µs' },
    { figure, conditions, measured: whole / parse, unit: '× JSON.parse of the review' },
  ];
}

report('requests', [...decisions(), ...(await servers(body))]);
