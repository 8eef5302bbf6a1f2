import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { History } from '../../../webhook/steer/history.ts';
import type { PendingPod } from '../../../webhook/steer/pending-pod.ts';
import { plan } from '../../../webhook/steer/plan.ts';
import { byUid, known, node, now, usage, waiting } from './support.ts';

const seconds = 1000;
const names = ['n0', 'n1', 'n2', 'n3', 'n4', 'n5'];
const zones = ['a', 'b'];

const nodes = fc.tuple(
  ...names.map((name) =>
    fc.record({
      name: fc.constant(name),
      zone: fc.constantFrom(...zones),
      tainted: fc.boolean(),
      ready: fc.boolean(),
      cpu: fc.integer({ min: 0, max: 2000 }),
      used: fc.integer({ min: 0, max: 1000 }),
      isKnown: fc.boolean(),
    }),
  ),
);
const pods = fc.array(
  fc.record({
    refused: fc.option(fc.constantFrom(...names), { nil: undefined }),
    zone: fc.option(fc.constantFrom(...zones), { nil: undefined }),
    tolerates: fc.boolean(),
    cpu: fc.integer({ min: 1, max: 800 }),
    nominated: fc.constantFrom('', '', '', 'n0', 'gone'),
    group: fc.constantFrom('web', 'db'),
    unverifiable: fc.boolean(),
  }),
  { maxLength: 25 },
);

suite('whatever the cluster is like', () => {
  test('no pod is nominated for a node that is not ready, refused it, does not fit or is full', () => {
    fc.assert(
      fc.property(nodes, pods, fc.nat(30), fc.nat(10), (made, wanted, max, start) => {
        const scored = new Map(made.map((one) => [one.name, one]));
        const taint = { key: 'gpu', value: '', effect: 'NoSchedule' };
        const { nominations } = plan(
          wanted.map(({ zone, tolerates, cpu, ...more }, index) =>
            waiting(`p${index}`, {
              ...more,
              constraints: zone === undefined ? {} : { nodeSelector: { zone } },
              tolerations: tolerates ? [{ operator: 'Exists' }] : [],
              requests: { cpu, pods: 1 },
            }),
          ),
          known(
            made.map(({ name, zone, tainted, cpu }) =>
              node(name, { labels: { zone }, taints: tainted ? [taint] : [], allocatable: { cpu, pods: 5 } }),
            ),
            {
              accepts: (_, name) => scored.get(name)?.ready !== false,
              usage: (name) =>
                scored.get(name)?.isKnown ? usage({ cpu: scored.get(name)?.used ?? 0, pods: 1 }) : undefined,
              start,
            },
          ),
          max,
        );
        assert.ok(nominations.length <= max);
        assert.equal(new Set(nominations.map(({ pod }) => pod.uid)).size, nominations.length);
        for (const { pod, node: to } of nominations) {
          const asked = wanted[Number(pod.name.slice(1))];
          const at = scored.get(to);
          assert.ok(asked && at?.ready && at.isKnown && to !== asked.refused);
          assert.equal(
            scored.get(asked.refused ?? '')?.ready,
            false,
            'it was refused for a node that takes it',
          );
          assert.ok(asked.zone === undefined || asked.zone === at.zone);
          assert.ok(!at.tainted || asked.tolerates);
          assert.ok(!(asked.nominated === 'n0' && scored.get('n0')?.ready), 'somebody had sent it elsewhere');
        }
        for (const { name, cpu, used } of made) {
          const here = nominations.filter(({ node: to }) => to === name);
          const asked = here.reduce((sum, { pod }) => sum + (pod.requests.cpu ?? 0), used);
          assert.ok(here.length === 0 || (asked <= cpu && here.length <= 4), `${name} is more than full`);
        }
      }),
    );
  });

  /** What the scheduler does about a nomination, and after how long. */
  const fates = fc.array(
    fc.record({ ignores: fc.boolean(), after: fc.integer({ min: 100, max: 11 * seconds }) }),
    { minLength: 40, maxLength: 40 },
  );

  test('after an ignored nomination the pod avoids the node, its group pauses, and it pauses longer each time', () => {
    fc.assert(
      fc.property(fates, fc.boolean(), fc.integer({ min: 2, max: 5 }), (all, unverifiable, count) => {
        const run = simulate(all, unverifiable, count);
        for (const [key, times] of Map.groupBy(run, ({ pod, to }) => `${pod}>${to}`)) {
          assert.ok(times.length <= 2, `${key} ${times.length} times in ten minutes`);
          // a second one is for a first that may have raced with a try
          if (times[0] && times[1]) assert.ok(times[0].gone - times[0].at <= seconds, `${key} again`);
        }
        for (const { gone } of run.filter(({ outcome }) => outcome === 'ignored')) {
          const next = run.find(({ at }) => at >= gone);
          // one that worked ends the pause of the group
          const worked = run.some(
            (one) => one.outcome === 'left' && one.gone >= gone && one.gone <= (next?.at ?? 0),
          );
          const paused = next === undefined || worked || next.at - gone >= 10 * seconds;
          assert.ok(paused, 'the group did not pause');
        }
        for (const [pod, times] of Map.groupBy(run, (one) => one.pod)) {
          let ignored = 0;
          for (const [index, { outcome, gone }] of times.entries()) {
            if (outcome !== 'ignored') continue;
            ignored += 1;
            const pause = Math.min(10 * 2 ** (ignored - 1), 300) * seconds;
            const next = times[index + 1];
            assert.ok(next === undefined || next.at - gone >= pause, `${pod} after ${ignored} ignored`);
          }
        }
      }),
    );
  });
});

interface Sent {
  pod: string;
  to: string;
  at: number;
  /** When it came to its end. */
  gone: number;
  outcome: string;
}

/** Ten minutes of a group of pods with a scheduler that does as it likes, looked at four times a second. */
function simulate(
  fates: { ignores: boolean; after: number }[],
  unverifiable: boolean,
  count: number,
): Sent[] {
  const history = new History();
  const nodes = names.map((name) => node(name));
  const left = new Map<string, PendingPod>();
  for (let index = 0; index < count; index += 1) {
    left.set(`p${index}`, waiting(`p${index}`, { unverifiable }));
  }
  const sent: Sent[] = [];
  let version = 100;
  for (let at = now; at < now + 600 * seconds && left.size > 0; at += 250) {
    for (const one of sent) {
      const pod = left.get(one.pod);
      if (pod === undefined || pod.nominated !== one.to || one.gone > at || one.outcome !== '') continue;
      if (one.gone > one.at && fates[sent.indexOf(one)]?.ignores !== false) {
        version += 1;
        left.set(one.pod, { ...pod, nominated: '', version: String(version) });
      } else left.delete(one.pod);
    }
    for (const { pod, outcome } of history.observe(byUid(...left.values()), at)) {
      const one = sent.findLast((other) => `shop/${other.pod}` === pod);
      if (one) Object.assign(one, { outcome, gone: at });
    }
    const { nominations } = plan(left.values(), known(nodes, { history, now: at }), 100);
    for (const nomination of nominations) {
      const { pod, node: to } = nomination;
      version += 1;
      history.made(nomination, String(version), at);
      left.set(pod.name, { ...pod, nominated: to, version: String(version) });
      const { after = 1000 } = fates[sent.length] ?? {};
      sent.push({ pod: pod.name, to, at, gone: at + after, outcome: '' });
    }
  }
  return sent.filter(({ outcome }) => outcome !== '');
}
