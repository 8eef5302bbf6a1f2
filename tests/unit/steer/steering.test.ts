import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { suite, type TestContext, test } from 'node:test';
import { Registry } from 'prom-client';
import type { Leadership } from '../../../webhook/cluster/steer/mandate.ts';
import { SteerMetrics } from '../../../webhook/cluster/steer/metrics.ts';
import { Steering } from '../../../webhook/cluster/steer/steering.ts';
import { goesByNominations } from '../../../webhook/cluster/steer/version.ts';
import type { Configuration } from '../../../webhook/config/types.ts';
import type { Notice } from '../../../webhook/steer/notice.ts';
import type { WaitingPod } from '../../../webhook/steer/waiting.ts';
import { policyOf } from '../../support/configurations.ts';
import { type Asked, json, startFakeApi, status } from '../../support/fake-api-server.ts';
import { clusterWith } from '../gate/support.ts';
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
  pods?: WaitingPod[];
  steer?: Configuration['steer'];
  leader?: Leadership | undefined;
  version?: { major: string; minor: string; gitVersion: string };
  /** Answers anything but the version; by default nodes are empty, and what is written is taken. */
  answer?: (asked: Asked, response: ServerResponse) => boolean;
}

/** Steering beside a fake API server, which is what cannot be had: one that is old, or that fails. */
async function steering(t: TestContext, scene: Scene) {
  const {
    pods = [web],
    steer = { mode: 'nominate' },
    version = { major: '1', minor: '36', gitVersion: 'v1.36.3' },
  } = scene;
  const lines: { level: string; text: string }[] = [];
  const waiters = new Set<() => void>();
  const changed = (): void => {
    for (const look of waiters) look();
  };
  const registry = new Registry();
  const api = await startFakeApi(t, (asked, response) => {
    if (asked.path === '/version') json(response, 200, version);
    else if (!scene.answer?.(asked, response)) {
      json(response, 200, asked.method === 'GET' ? { items: [] } : { metadata: { resourceVersion: '11' } });
    }
    changed();
  });
  const told =
    (level: string) =>
    (_facts: object, text: string): void => {
      lines.push({ level, text });
      changed();
    };
  const wakers = new Set<() => void>();
  let turns = 0;
  const notices: Notice[] = [];
  const steers = new Steering(api.client, {
    view: {
      readiness: clusterWith({ n1: { ready: false }, n2: {} }),
      waiting: () => pods,
      unsynced: () => undefined,
      policy: () => {
        turns += 1;
        changed();
        return policyOf({ profiles, steer });
      },
      subscribe: (wake) => {
        wakers.add(wake);
        return () => wakers.delete(wake);
      },
    },
    leader: 'leader' in scene ? scene.leader : leads,
    metrics: new SteerMetrics(registry),
    notices: { tell: (notice) => notices.push(notice) },
    log: { info: told('info'), warn: told('warn') },
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
      const look = (): void => {
        if (!holds()) return;
        waiters.delete(look);
        resolve();
      };
      waiters.add(look);
      look();
    });
  const wake = (): void => {
    for (const one of wakers) one();
  };
  return {
    api,
    lines,
    notices,
    state,
    wake,
    /** Resolves once something holds that a request, a line or a turn of the loop may bring about. */
    until,
    /** Resolves once the loop has come round, and done all that it does. */
    comeRound: async () => {
      for (let round = 0; round < 2; round += 1) {
        const before = turns;
        wake();
        await until(() => turns > before);
      }
    },
    patches: () => api.asked.filter(({ method }) => method === 'PATCH'),
  };
}

suite('steering', () => {
  test('asks for the pods of the node that is ready, and nominates it on exactly the pod that it saw', async (t) => {
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
    assert.match(
      lines[0]?.text ?? '',
      /^pod shop\/web, which node n1 was refused for, is nominated for n2: of 1 /,
    );
    const told = notices.map(({ pod, reason, node, occasion }) => [pod.uid, reason, node, occasion]);
    assert.deepEqual(told, [['web-uid', 'NodeNominated', 'n2', '11']]);
  });

  test('does nothing on an API server whose scheduler does not go by it, and says so once', async (t) => {
    const { until, lines, api, comeRound, state } = await steering(t, {
      version: { major: '1', minor: '34+', gitVersion: 'v1.34.2-eks' },
    });
    await until(() => lines.length > 0);
    assert.deepEqual(lines, [
      {
        level: 'info',
        text: 'pods that are refused are not sent elsewhere: the API server is v1.34.2-eks, schedulers go by nominations from 1.35 on',
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
    test(`asks nobody where its state is ${expected}`, async (t) => {
      const { api, state, comeRound } = await steering(t, scene);
      await comeRound();
      assert.deepEqual([await state(), api.asked], [expected, []]);
    });
  }

  test('a pod that has changed meanwhile is left alone until it is seen anew', async (t) => {
    const pods = [web];
    const { until, patches, notices, wake, comeRound } = await steering(t, {
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
    wake();
    await until(() => patches().length === 2);
  });

  test('a volume that is being made holds its pod to the node that it is made for', async (t) => {
    const claiming = (name: string): WaitingPod => waiting(name, { requests: {}, claims: [name] });
    const { until, patches } = await steering(t, {
      pods: [claiming('n1'), claiming('n2')],
      answer: ({ path }, response) => {
        const claim = /persistentvolumeclaims\/(.+)$/.exec(path)?.[1];
        if (claim === undefined) return false;
        json(response, 200, {
          metadata: { annotations: { 'volume.kubernetes.io/selected-node': claim } },
          spec: {},
        });
        return true;
      },
    });
    await until(() => patches().length > 0);
    assert.deepEqual(
      patches().map(({ path }) => path),
      ['/api/v1/namespaces/shop/pods/n2/status'],
    );
  });

  test('an API server that cannot take a nomination is asked again, and the pod does not pause for it', async (t) => {
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
      /^pods that are refused cannot be sent elsewhere: .*etcd is away; it is tried again$/,
    );
  });

  test('without the right to read claims, pods that have none are sent elsewhere all the same', async (t) => {
    const claiming = waiting('db', { requests: {}, claims: ['data'] });
    const { until, patches, lines } = await steering(t, {
      pods: [claiming, web],
      answer: ({ path }, response) => {
        if (!path.includes('persistentvolumeclaims')) return false;
        json(
          response,
          403,
          status(403, 'Forbidden', 'User "x" cannot get resource "persistentvolumeclaims"'),
        );
        return true;
      },
    });
    await until(() => patches().length > 0);
    assert.equal(patches()[0]?.path, '/api/v1/namespaces/shop/pods/web/status');
    assert.match(lines[0]?.text ?? '', /RBAC lacks verb "get" on resource "persistentvolumeclaims"/);
  });
});

test('schedulers go by nominations from 1.35 on', () => {
  const goes = (major: string, minor: string): boolean => goesByNominations({ major, minor });
  assert.deepEqual(
    [goes('1', '34'), goes('1', '35'), goes('1', '36+'), goes('2', '0'), goes('', '')],
    [false, true, true, true, false],
  );
});
