import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PodEvidence } from '../../../../webhook/core/facts/pod-evidence.ts';
import { Evidence } from '../../../../webhook/core/networks/evidence.ts';
import { proofStatus } from '../../../../webhook/core/networks/proof-status.ts';
import type { RepairSettings } from '../../../../webhook/core/profiles/types.ts';
import { requiredOf } from '../../../../webhook/core/scheduling/constraints.ts';
import { runRepair } from '../../../../webhook/leader/start.ts';
import { policyOf } from '../../../support/configurations.ts';
import { eventually } from '../../../support/eventually.ts';
import { json, status } from '../../../support/fake-api-server.ts';
import { clusterWith } from '../../admission/gate/support.ts';
import { podEvidence } from '../../core/networks/support.ts';
import { type Answer, running, switchedLead } from '../scene.ts';

interface Scene {
  mode?: RepairSettings['mode'];
  budgets?: Partial<RepairSettings>;
  leads?: boolean;
  evidence?: 'ready' | 'proof';
  pods?: PodEvidence[];
  /** How long ago, in milliseconds, the watch reported these pods. */
  seenAgo?: number;
  onFailure?: 'unready' | 'recreate';
  answer?: Answer;
  /** The interval, in milliseconds, at which the controller reconciles all pods. */
  resync?: number;
}

const pods = '/api/v1/namespaces/shop/pods/';

const failed = (uid: string, more: Partial<PodEvidence> = {}): PodEvidence => ({
  ...podEvidence({ uid, owner: `set-${uid}`, verdict: 'failed', at: -60 }),
  name: uid,
  version: '7',
  createdAt: Date.now() - 3_600_000,
  ...more,
});

/** A passed pod, which shows that the node works. Without this pod, repair deletes only a few pods, as a trial. */
const proven = podEvidence({ uid: 'proof', owner: 'other', verdict: 'passed' });

const ofJob = { controller: { apiVersion: 'batch/v1', kind: 'Job', name: 'work', uid: 'job' } };

async function scene(
  t: TestContext,
  { leads = true, pods: first = [], seenAgo = 0, answer, resync, ...more }: Scene,
) {
  const evidence = new Evidence();
  const putAt = (at: number, some: PodEvidence[]): void =>
    evidence.apply(
      some.map((pod) => ({ type: 'put', pod, listed: false })),
      at,
    );
  const put = (...some: PodEvidence[]): void => putAt(Date.now(), some);
  putAt(Date.now() - seenAgo, first);
  evidence.markSynced();
  const { onFailure } = more;
  const proof = {
    checks: [{ address: {} }],
    ...(onFailure && { witness: 'kubelet', continuous: { onFailure } }),
  };
  const profiles = [{ name: 'mesh', daemonSets: [], proof, evidence: more.evidence ?? 'ready' }];
  const policy = policyOf({ profiles, repair: { mode: more.mode ?? 'recreate', ...more.budgets } });
  const { leader, lead } = switchedLead(leads);
  const view = {
    readiness: clusterWith({ n1: undefined, n2: undefined }),
    evidence,
    unsynced: () => undefined,
  };
  const run = await running(
    t,
    runRepair,
    { view, policy: () => policy, leader, ...(resync && { resync }) },
    answer,
  );
  const profile = policy.profiles.get('mesh');
  assert.ok(profile);
  /** Whether the gate would allow the owner's next pod on n1, three seconds from now. */
  const mayTry = (owner: string): boolean | undefined => {
    return proofStatus(profile, 'n1', { ...view, policy }, Date.now() + 3000, { key: 'next', owner })
      ?.mayProbe;
  };
  return {
    ...run,
    put,
    gone: (uid: string) => evidence.apply([{ type: 'gone', uid }], Date.now()),
    lead,
    mayTry,
    /** The requests that concern pods, such as `DELETE web`. */
    asked: (): string[] =>
      run.api.asked
        .filter(({ path }) => path.startsWith(pods))
        .map(({ method, path }) => `${method} ${path.slice(pods.length)}`),
    count: (name: string) => run.count(`cni_gate_repair_${name}`),
  };
}

/** After this time, in milliseconds, the next pod of an owner without a passed pod may try the node. */
const longestWait = 15_000;

const someTime = (): Promise<void> => sleep(400);

suite('a pod whose network is lost', { concurrency: true }, () => {
  const lost = (uid: string, more: Partial<PodEvidence> = {}): PodEvidence => ({
    ...failed(uid),
    ...{ verdict: 'passed', startedAt: Date.now() - 600_000 },
    unready: { run: 1, at: Date.now() - 60_000, shownBy: '7', patience: 10_000 },
    ...more,
  });
  const web = { owner: 'web' };

  test('is deleted with onFailure: recreate as soon as it is lost, one pod of a controller at a time', async (t) => {
    const unready = { run: 1, at: Date.now() - 59_500, shownBy: '7', patience: 10_000 };
    const { put, gone, asked, events, api } = await scene(t, {
      pods: [proven, lost('a', { ...web, unready }), lost('b', { ...web, unready })],
      onFailure: 'recreate',
    });
    assert.deepEqual(asked(), []);
    await api.nth(0);
    await someTime();
    assert.deepEqual(asked(), ['DELETE a']);
    assert.match(events[0]?.note ?? '', /^the network of pod a on node n1 is lost, so it is deleted/);
    gone('a');
    const next = (verdict: PodEvidence['verdict'], version: string): PodEvidence => ({
      ...podEvidence({ uid: 'next', owner: 'web', verdict }),
      version,
    });
    put(next('waiting', '8'));
    await someTime();
    assert.deepEqual(asked(), ['DELETE a']);
    put(next('passed', '9'));
    await eventually(async () => asked(), ['DELETE a', 'DELETE b']);
  });

  test('is not deleted if it recovers before its turn, or if a pod of its controller waits', async (t) => {
    const waiting = podEvidence({ uid: 'w', ...web, verdict: 'waiting' });
    const { put, asked, count } = await scene(t, {
      pods: [proven, waiting, lost('a', web)],
      onFailure: 'recreate',
    });
    await eventually(() => count('skipped'), { 'owner-turn': 1 });
    put({ ...podEvidence({ uid: 'a', owner: 'web', verdict: 'passed' }), version: '8' });
    put({ ...podEvidence({ uid: 'w', owner: 'web', verdict: 'passed' }), version: '9' });
    await eventually(() => count('skipped'), {});
    assert.deepEqual(asked(), []);
  });
});

suite('a pod whose proof failed', { concurrency: true }, () => {
  test('is deleted once, by UID and version, with its own grace period', async (t) => {
    const { api, asked, events, count } = await scene(t, { pods: [failed('web')] });
    const { body } = await api.nth(0);
    assert.deepEqual(JSON.parse(body), {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid: 'web', resourceVersion: '7' },
    });
    const told = async (): Promise<string[]> =>
      events.map(({ regarding, reason }) => `${reason} ${regarding.kind} ${regarding.name}`);
    await eventually(told, ['Recreated Pod web', 'Recreated ReplicaSet set-web']);
    assert.deepEqual(asked(), ['DELETE web']);
    assert.deepEqual(await count('recreations_total'), { made: 1 });
  });

  const seven = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  for (const what of ['it passes', 'the lead is lost'] as const) {
    test(`is not deleted if ${what} before its turn`, async (t) => {
      const held: ServerResponse[] = [];
      const { api, put, asked, lead } = await scene(t, {
        pods: [proven, ...seven.map((uid, createdAt) => failed(uid, { createdAt }))],
        answer: ({ path }, response) => (path.startsWith(pods) ? held.push(response) : false),
      });
      await api.nth(4);
      if (what === 'the lead is lost') lead(false);
      else
        put(...['f', 'g'].map((uid): PodEvidence => ({ ...failed(uid), verdict: 'passed', version: '8' })));
      for (const response of held) json(response, 200, {});
      await someTime();
      assert.deepEqual(
        asked().toSorted(),
        seven.slice(0, 5).map((uid) => `DELETE ${uid}`),
      );
    });
  }

  test('is not deleted if its version has changed, or if its UID is now that of another pod', async (t) => {
    const conflict = status(409, 'Conflict', 'the UID in the precondition does not match');
    const { api, put, asked, count } = await scene(t, {
      pods: [failed('web')],
      resync: 60_000,
      answer: ({ method }, response) => json(response, method === 'DELETE' ? 409 : 200, conflict),
    });
    await api.nth(0);
    await someTime();
    assert.deepEqual(asked(), ['DELETE web']);
    put(failed('web', { version: '9' }));
    await someTime();
    assert.deepEqual([asked().length, await count('recreations_total')], [2, { conflict: 2 }]);
  });

  for (const [version, result] of [
    ['9', 'conflict'],
    ['7', 'failed'],
  ] as const) {
    test(`refused by a policy while it is at version ${version}, and not deleted: ${result}`, async (t) => {
      const refused = status(422, 'Invalid', 'cni-gate may delete only a pod whose proof failed');
      const { count } = await scene(t, {
        pods: [failed('web')],
        answer: ({ method, path }, response) =>
          path.startsWith(pods) &&
          (method === 'DELETE'
            ? json(response, 422, refused)
            : json(response, 200, { metadata: { uid: 'web', resourceVersion: version } })),
      });
      await eventually(async () => Object.keys(await count('recreations_total')), [result]);
    });
  }

  for (const [what, options, more] of [
    ['by a replica that does not lead', { leads: false }, {}],
    ['with mode off', { mode: 'off' }, {}],
    ['if it runs, in warn mode', {}, { warned: true }],
  ] as const)
    test(`is left alone ${what}`, async (t) => {
      const { asked } = await scene(t, { pods: [failed('web', more), proven], ...options });
      await someTime();
      assert.deepEqual(asked(), []);
    });

  test('is reported with mode audit, within the budgets, and not deleted, even if it runs', async (t) => {
    const pods = ['a', 'b'].flatMap((uid) => [
      podEvidence({ uid: `${uid}-passed`, owner: `set-${uid}`, verdict: 'passed' }),
      failed(uid, { warned: true }),
    ]);
    const { asked, count, events } = await scene(t, { mode: 'audit', budgets: { perMinute: 2 }, pods });
    await eventually(() => count('skipped'), { budget: 1 });
    assert.deepEqual([asked(), await count('recreations_total')], [[], { would: 1 }]);
    assert.deepEqual(new Set(events.map(({ reason }) => reason)), new Set(['WouldRecreate']));
  });

  test('is not deleted again if the connection broke after the deletion, and its replacement counts', async (t) => {
    const { api, put, asked, count } = await scene(t, {
      pods: [failed('web')],
      answer: (_, response) => response.destroy(),
    });
    await api.nth(0);
    put(failed('web', { version: '8', leaving: true }));
    await eventually(() => count('skipped'), { leaving: 1 });
    put(podEvidence({ uid: 'web-again', owner: 'set-web', verdict: 'passed' }));
    await eventually(() => count('outcomes_total'), { passed: 1 });
    assert.deepEqual(asked(), ['DELETE web']);
  });
});

suite('a pod of a Job', { concurrency: true }, () => {
  const released = { releasedFrom: 'work', controller: undefined };

  test('is first released by its labels, and then deleted at the version that the watch shows', async (t) => {
    const { api, put } = await scene(t, { pods: [failed('work-1', ofJob)] });
    const { method, body } = await api.nth(0);
    put(failed('work-1', { ...released, version: '8' }));
    const deletion = await api.nth(1);
    const keys = ['batch.kubernetes.io/controller-uid', 'batch.kubernetes.io/job-name'];
    const labels = [...keys, 'controller-uid', 'job-name'].map((key) => [key, null]);
    assert.deepEqual(
      [method, JSON.parse(body)],
      [
        'PATCH',
        {
          metadata: {
            uid: 'work-1',
            resourceVersion: '7',
            labels: Object.fromEntries(labels),
            annotations: { 'cni-gate.io/released-from': 'work' },
          },
        },
      ],
    );
    assert.deepEqual(
      [deletion.method, JSON.parse(deletion.body).preconditions],
      ['DELETE', { uid: 'work-1', resourceVersion: '8' }],
    );
  });

  test('that was released and not deleted is deleted by the next leader, even if it passed', async (t) => {
    const pod: PodEvidence = { ...failed('work-1', released), verdict: 'passed' };
    const { asked } = await scene(t, { pods: [pod] });
    await eventually(async () => asked(), ['DELETE work-1']);
  });

  test('that was released backs off if it changes repeatedly', async (t) => {
    const pod = failed('work-1', released);
    const { api, asked } = await scene(t, {
      pods: [pod],
      answer: (_, response) => json(response, 409, status(409, 'Conflict', 'changed')),
    });
    await api.nth(0);
    await sleep(800);
    assert.ok(asked().length <= 2, `${asked().length} deletions within 800 ms`);
  });
});

test('if one pod at a time may try the node, only one is deleted until the watch reports its replacement', async (t) => {
  const { api, asked } = await scene(t, {
    pods: ['a', 'b', 'c'].map((uid) => failed(uid)),
    seenAgo: longestWait,
    evidence: 'proof',
  });
  await api.nth(0);
  await someTime();
  assert.deepEqual(asked(), ['DELETE a']);
});

suite('the node of a deleted pod, if one pod at a time may try the node', () => {
  const proved = podEvidence({ uid: 'proved', owner: 'other', verdict: 'passed', node: 'n2' });
  const required = { ...requiredOf({}), kind: 'any', hasVolumes: false };

  for (const [what, others, seenAgo, ofOwner, ofOthers] of [
    ['is reserved for the owner, if no other node accepts the pod', [], longestWait, true, false],
    [
      'is not reserved if the pod is to move: an owner that failed waits twice as long',
      [proved],
      0,
      false,
      true,
    ],
  ] as const) {
    test(what, async (t) => {
      const { api, mayTry } = await scene(t, {
        pods: [failed('web', { required }), ...others],
        seenAgo,
        evidence: 'proof',
      });
      await api.nth(0);
      assert.deepEqual([mayTry('set-web'), mayTry('set-other')], [ofOwner, ofOthers]);
    });
  }
});
