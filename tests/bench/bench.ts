/** `npm run bench`: compares the time to answer a review with the time to parse it. */
import { mutate } from '../../webhook/admission/mutate.ts';
import { parseConfiguration } from '../../webhook/config/load.ts';
import { Policy } from '../../webhook/core/profiles/policy.ts';
import { recorded } from '../support/reviews.ts';
import { median } from './load.ts';
import { report } from './report.ts';

const body = JSON.stringify(recorded('pod-statefulset-db'), null, 2);

/** Microseconds per call: the median of several batches. */
function time(call: () => void): number {
  const batch = 2000;
  for (let warm = 0; warm < batch; warm++) call();
  return median(
    Array.from({ length: 9 }, () => {
      const start = process.hrtime.bigint();
      for (let index = 0; index < batch; index++) call();
      return Number(process.hrtime.bigint() - start) / 1000 / batch;
    }),
  );
}

const policy = new Policy(parseConfiguration());
const namespaces = { facts: () => ({ labels: { 'cni-gate.io/profile': 'cilium.linkerd' } }) };
const parse = time(() => JSON.parse(body));
const whole = time(() => {
  const { review } = mutate(JSON.parse(body), { policy, namespaces });
  JSON.stringify(review);
});
const [figure, conditions] = ['parse, decide, apply the patch, answer', `in-process, ${body.length} bytes`];
report([
  { figure, conditions, measured: whole, unit: 'µs' },
  { figure, conditions, measured: whole / parse, unit: '× JSON.parse of the review' },
]);
