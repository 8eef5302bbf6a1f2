import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Registry } from 'prom-client';
import type { Configuration } from '../../../webhook/config/types.ts';
import type { Notice } from '../../../webhook/events/notice.ts';
import { noEvidence } from '../../../webhook/evidence/evidence.ts';
import type { Leadership } from '../../../webhook/kubernetes/lease/leadership.ts';
import type { Readiness } from '../../../webhook/readiness/readiness.ts';
import { usesNominations } from '../../../webhook/steer/eligibility.ts';
import { SteerMetrics } from '../../../webhook/steer/metrics.ts';
import type { PendingPod } from '../../../webhook/steer/pending-pod.ts';
import { Steering } from '../../../webhook/steer/steering.ts';
import { policyOf } from '../../support/configurations.ts';
import { type Asked, json, startFakeApi, status } from '../../support/fake-api-server.ts';
import { clusterWith } from '../gate/support.ts';
import { heavy } from './heavy.ts';
import { longestTurn } from './longest-turn.ts';
import { waiting } from './support.ts';

const profiles = [
  {
    name: 'mesh',
    when: {},
    daemonSets: [{ namespace: 'net', name: 'agent' }],
    annotations: {},
    proof: { checks: [] },
  },
];
const leads: Leadership = { leads: true, subscribe: () => () => {} };
const web = waiting('web', { requests: {} });

interface Scene {
  pods?: PendingPod[];
  steer?: Configuration['steer'];
  leader?: Leadership | undefined;
  version?: { major: string; minor: string; gitVersion: string };
  readiness?: Readiness;
  /** Answers anything but the version; by default nodes are empty, and what is written is taken. */
  answer?: (asked: Asked, response: ServerResponse) => boolean;
}

/** Steering with a fake API server, which is old or fails on demand. */
async function steering(t: TestContext, scene: Scene) {
  const {
    pods = [web],
    steer = { mode: 'nominate' },
    version = { major: '1', minor: '36', gitVersion: 'v1.36.3' },
  } = scene;
  const lines: { level: string; text: string }[] = [];
  const waiters = new Set<() => void>();
  const changed = (): void => {
    for (const poll of waiters) poll();
  };
  const registry = new Registry();
  const api = await startFakeApi(t, (asked, response) => {
    if (asked.path === '/version') json(response, 200, version);
    else if (!scene.answer?.(asked, response)) {
      json(response, 200, asked.method === 'GET' ? { items: [] } : { metadata: { resourceVersion: '11' } });
    }
    changed();
  });
  const reported =
    (level: string) =>
    (_facts: object, text: string): void => {
      lines.push({ level, text });
      changed();
    };
  const subscribers = new Set<() => void>();
  let turns = 0;
  const notices: Notice[] = [];
  const steers = new Steering(api.client, {
    view: {
      readiness: scene.readiness ?? clusterWith({ n1: { ready: false }, n2: {} }),
      evidence: noEvidence,
      pending: () => pods,
      unsynced: () => undefined,
      subscribe: (notify) => {
        subscribers.add(notify);
        return () => subscribers.delete(notify);
      },
    },
    policy: () => {
      turns += 1;
      changed();
      return policyOf({ profiles, steer });
    },
    leader: 'leader' in scene ? scene.leader : leads,
    metrics: new SteerMetrics(registry),
    notices: { add: (notice) => notices.push(notice) },
    log: { info: reported('info'), warn: reported('warn'), error: reported('error') },
  });
  const stop = new AbortController();
  const over = steers.run(stop.signal);
  t.after(async () => {
    stop.abort();
    await over;
  });
  const state = async (): Promise<string | undefined> => {
    const { values } = (await registry.getSingleMetric('cni_gate_steer_state')?.get()) ?? { values: [] };
    return values.find(({ value }) => value === 1)?.labels.state as string | undefined;
  };
  const until = (holds: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const poll = (): void => {
        if (!holds()) return;
        waiters.delete(poll);
        resolve();
      };
      waiters.add(poll);
      poll();
    });
  const notify = (): void => {
    for (const one of subscribers) one();
  };
  return {
    api,
    lines,
    notices,
    state,
    notify,
    /** Resolves once something holds that a request, a line or a turn of the loop may bring about. */
    until,
    /** Resolves once the loop has come round, and done all that it does. */
    comeRound: async () => {
      for (let round = 0; round < 2; round += 1) {
        const before = turns;
        notify();
        await until(() => turns > before);
      }
    },
    /** How often something was counted. */
    counted: async (metric: string, labels: object): Promise<number> => {
      const { values } = (await registry.getSingleMetric(metric)?.get()) ?? { values: [] };
      return values.find((one) => isDeepStrictEqual(one.labels, labels))?.value ?? 0;
    },
    patches: () => api.asked.filter(({ method }) => method === 'PATCH'),
  };
}

suite('steering', () => {
  test('lists the pods of the ready node, and nominates it on exactly the version of the pod that it saw', async (t) => {
    const { until, lines, notices, api, patches, state } = await steering(t, {});
    await until(() => lines.length > 0);
    assert.equal(await state(), 'steering');
    assert.deepEqual(
      api.asked.map(({ method, path, query }) => [method, path, query.fieldSelector]),
      [
        ['GET', '/version', undefined],
        ['GET', '/api/v1/pods', 'spec.nodeName=n2,status.phase!=Succeeded,status.phase!=Failed'],
        ['PATCH', '/api/v1/namespaces/shop/pods/web/status', undefined],
      ],
    );
    const [patch] = patches();
    assert.equal(patch?.headers['content-type'], 'application/merge-patch+json');
    assert.deepEqual(JSON.parse(patch?.body ?? ''), {
      metadata: { uid: 'web-uid', resourceVersion: '10' },
      status: { nominatedNodeName: 'n2' },
    });
    assert.match(lines[0]?.text ?? '', /^pod shop\/web, refused on node n1, is nominated for node n2: of 1 /);
    const reported = notices.map(({ regarding, reason, node, occasion }) => [
      regarding.uid,
      reason,
      node,
      occasion,
    ]);
    assert.deepEqual(reported, [['web-uid', 'NodeNominated', 'n2', '11']]);
  });

  test('does nothing before Kubernetes 1.35, and logs that once', async (t) => {
    const { until, lines, api, comeRound, state } = await steering(t, {
      version: { major: '1', minor: '34+', gitVersion: 'v1.34.2-eks' },
    });
    await until(() => lines.length > 0);
    assert.deepEqual(lines, [
      {
        level: 'info',
        text: 'refused pods are not steered: the API server is v1.34.2-eks, and schedulers use nominations from 1.35 on',
      },
    ]);
    await comeRound();
    assert.deepEqual([api.asked.length, lines.length, await state()], [1, 1, 'api-server-too-old']);
  });

  const idle: [state: string, scene: Scene][] = [
    ['off', { steer: { mode: 'off' } }],
    ['standby', { leader: { leads: false, subscribe: () => () => {} } }],
    ['no-namespace', { leader: undefined }],
  ];
  for (const [expected, scene] of idle) {
    test(`sends no request in state ${expected}`, async (t) => {
      const { api, state, comeRound } = await steering(t, scene);
      await comeRound();
      assert.deepEqual([await state(), api.asked], [expected, []]);
    });
  }

  test('after a conflict, waits until the watch reports a newer version of the pod', async (t) => {
    const pods = [web];
    const { until, patches, notices, notify, comeRound } = await steering(t, {
      pods,
      answer: ({ method }, response) => {
        if (method !== 'PATCH') return false;
        json(response, 409, status(409, 'Conflict', 'the object has been modified'));
        return true;
      },
    });
    await until(() => patches().length === 1);
    await comeRound();
    assert.equal(patches().length, 1);
    assert.deepEqual(notices, [], 'it was not nominated');
    pods[0] = { ...web, version: '12' };
    notify();
    await until(() => patches().length === 2);
  });

  test('after an outage of the API server, tries again, and the pod does not pause', async (t) => {
    let faults = 1;
    const { until, patches, lines } = await steering(t, {
      answer: ({ method }, response) => {
        if (method !== 'PATCH' || faults === 0) return false;
        faults -= 1;
        json(response, 503, status(503, 'ServiceUnavailable', 'etcd is away'));
        return true;
      },
    });
    await until(() => lines.some(({ level }) => level === 'info'));
    assert.equal(patches().length, 2);
    assert.match(
      lines[0]?.text ?? '',
      /^refused pods cannot be steered: .*etcd is away; cni-gate tries again$/,
    );
  });
});

/** The lead, which the test takes away and gives back. */
function switchedLead() {
  const changed = new Set<() => void>();
  let leads = true;
  const leader: Leadership = {
    get leads() {
      return leads;
    },
    subscribe: (call) => {
      changed.add(call);
      return () => changed.delete(call);
    },
  };
  const lead = (now: boolean): void => {
    leads = now;
    for (const call of changed) call();
  };
  return { leader, lead };
}

suite('with many pods', () => {
  test('a nomination is not written if the pod changed after planning', async (t) => {
    // ten are written side by side, so these come later
    const pods = Array.from({ length: 12 }, (_, index) =>
      waiting(`web-${String(index).padStart(2, '0')}`, { requests: {} }),
    );
    const { until, patches, counted, notify } = await steering(t, {
      pods,
      answer: ({ method }, response) => {
        if (method !== 'PATCH' || pods.length < 12) return false;
        pods.splice(10, 2, waiting('web-10', { requests: {}, version: '12' }));
        json(response, 200, { metadata: { resourceVersion: '11' } });
        return true;
      },
    });
    await until(() => patches().length >= 10);
    notify();
    await until(() => patches().length >= 11);
    const late = patches().slice(10);
    assert.deepEqual(
      late.map(({ path, body }) => [path.split('/').at(-2), JSON.parse(body).metadata.resourceVersion]),
      [['web-10', '12']],
    );
    assert.equal(await counted('cni_gate_nominations_total', { result: 'outdated' }), 2);
  });

  test('a nomination is not written if the node is gone', async (t) => {
    const pods = Array.from({ length: 11 }, (_, index) => waiting(`web-${index}`, { requests: {} }));
    const readiness = clusterWith({ n1: { ready: false }, n2: {} });
    const { until, patches, counted, comeRound } = await steering(t, {
      pods,
      readiness,
      answer: ({ method }) => {
        if (method === 'PATCH') readiness.apply({ kind: 'node-gone', name: 'n2' }, Date.now());
        return false;
      },
    });
    await until(() => patches().length >= 10);
    await comeRound();
    assert.equal(patches().length, 10);
    assert.equal(await counted('cni_gate_nominations_total', { result: 'outdated' }), 1);
  });

  test('1,300 pods that fit no node delay neither the event loop nor a pod of another namespace', async (t) => {
    const readiness = clusterWith({
      n1: { ready: false },
      ...Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`m${index}`, {}])),
    });
    const pods = Array.from({ length: 1300 }, (_, index) => heavy(`p${index}`, index));
    const { leader, lead } = switchedLead();
    const { until, patches, notify, counted } = await steering(t, { pods, readiness, leader });
    const measured = longestTurn();
    t.after(measured.stop);
    while ((await counted('cni_gate_steer_rounds_cut_total', {})) < 2) await sleep(20);
    // the lead goes and comes back, in the rest after a costly round
    lead(false);
    lead(true);
    pods.push(web);
    const began = performance.now();
    notify();
    await until(() => patches().length > 0);
    const took = performance.now() - began;
    assert.equal(patches()[0]?.path, '/api/v1/namespaces/shop/pods/web/status');
    t.diagnostic(`nominated ${took.toFixed(0)} ms after the lead came back`);
    assert.ok(took < 10_000, `nominated after ${took.toFixed(0)} ms`);
    const { milliseconds } = measured.stop();
    assert.ok(milliseconds < 200, `a turn of the event loop took ${milliseconds.toFixed(0)} ms`);
  });
});

suite('after the lead changed hands', () => {
  test('an earlier pause delays nothing, even if the lead was lost for a moment only', async (t) => {
    let refusals = 1;
    const { leader, lead } = switchedLead();
    const { until, patches, comeRound } = await steering(t, {
      leader,
      answer: ({ method }, response) => {
        if (method !== 'PATCH' || refusals === 0) return false;
        refusals -= 1;
        json(response, 422, status(422, 'Invalid', 'no'));
        return true;
      },
    });
    await until(() => patches().length === 1);
    await comeRound();
    assert.equal(patches().length, 1, 'the pod pauses for ten seconds');
    const began = performance.now();
    lead(false);
    lead(true);
    await until(() => patches().length === 2);
    assert.ok(performance.now() - began < 5000);
  });

  test('an earlier outage delays nothing', async (t) => {
    let faults = 3;
    const { leader, lead } = switchedLead();
    const { until, patches, lines } = await steering(t, {
      leader,
      answer: ({ method }, response) => {
        if (method !== 'PATCH' || faults === 0) return false;
        faults -= 1;
        json(response, 503, status(503, 'ServiceUnavailable', 'etcd is away'));
        return true;
      },
    });
    // the next tries are 1, 2 and 4 seconds after the faults
    await until(() => patches().length === 3);
    const began = performance.now();
    await sleep(50);
    lead(true);
    await until(() => lines.some(({ level }) => level === 'info'));
    assert.ok(performance.now() - began < 3000);
  });
});

test('schedulers use nominations from Kubernetes 1.35 on', () => {
  const goes = (major: string, minor: string): boolean => usesNominations({ major, minor });
  assert.deepEqual(
    [goes('1', '34'), goes('1', '35'), goes('1', '36+'), goes('2', '0'), goes('', '')],
    [false, true, true, true, false],
  );
});
