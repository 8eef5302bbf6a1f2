import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { gateWebhooks } from '../../../webhook/lib/names.ts';
import type { Registered, RegisteredWebhook, SchedulerFacts } from '../../../webhook/status/facts.ts';
import { verbsOf } from '../../../webhook/status/verbs.ts';
import { policyOf } from '../../support/configurations.ts';
import { allRegistered, called } from './objects.ts';

const recent: SchedulerFacts = { version: 'v1.36.3', goesByNominations: true };

const unhindered = { hindered: { mutating: undefined, validating: undefined }, leaderless: undefined };

/** The verbs in words, and the codes of what is wrong. */
function reported(
  more: {
    settings?: object;
    registered?: Partial<Registered>;
    scheduler?: SchedulerFacts | undefined;
    installation?: Parameters<typeof verbsOf>[1];
  } = {},
  optedIn = true,
): string[] {
  const { settings = {}, registered, installation = unhindered } = more;
  const scheduler = 'scheduler' in more ? more.scheduler : recent;
  const facts = { policy: policyOf(settings), registered: { ...allRegistered, ...registered }, scheduler };
  const { verbs, faults } = verbsOf(facts, installation, optedIn);
  return [
    // repair depends on none of this: see below
    ...verbs
      .filter(({ verb }) => verb !== 'repair')
      .map(({ verb, mode, inForce, why }) => `${verb} ${mode} ${inForce} ${why}`.trim()),
    ...faults.map(({ code, message }) => `${code}: ${message}`),
  ];
}

const enforced = ['prove enforce true', 'gate enforce true', 'steer nominate true'];
const [prove = '', gate = '', steer = ''] = enforced;

suite('verbs in force', () => {
  test('are all of them where everything is registered', () => assert.deepEqual(reported(), enforced));

  test('follow the modes of the configuration', () => {
    assert.deepEqual(reported({ settings: { proof: { mode: 'warn' }, gate: { mode: 'audit' } } }), [
      'prove warn false it reports failed checks, and lets the pod start',
      'gate audit false it reports what it would reject, and allows it',
      'steer nominate false the gate is not in force, so no pod is refused',
    ]);
    assert.deepEqual(reported({ settings: { steer: { mode: 'off' } } }), [
      prove,
      gate,
      'steer off false pods that are refused wait',
    ]);
  });

  test('steering needs a scheduler that follows nominations', () => {
    assert.deepEqual(reported({ scheduler: { version: 'v1.34.1', goesByNominations: false } }), [
      prove,
      gate,
      'steer nominate false the scheduler of Kubernetes v1.34.1 does not go by nominations',
    ]);
    assert.match(reported({ scheduler: undefined })[2] ?? '', /^steer nominate null .*version/);
  });
});

suite('what blocks calls', () => {
  test('is the reason why a verb is not in force, per kind of webhooks', () => {
    const installation = { ...unhindered, hindered: { mutating: 'nobody answers', validating: undefined } };
    assert.deepEqual(reported({ installation }), ['prove enforce false nobody answers', gate, steer]);
    const other = { ...unhindered, hindered: { mutating: undefined, validating: 'not trusted' } };
    assert.deepEqual(reported({ installation: other }), [
      prove,
      'gate enforce false not trusted',
      'steer nominate false the gate is not in force, so no pod is refused',
    ]);
  });

  test('for steering it is a missing leader', () => {
    const installation = { ...unhindered, leaderless: 'nobody holds it' };
    assert.deepEqual(reported({ installation }), [prove, gate, 'steer nominate false nobody holds it']);
  });

  test('comes after the mode and the registration', () => {
    const installation = { ...unhindered, hindered: { mutating: 'nobody answers', validating: undefined } };
    assert.match(reported({ installation, registered: { mutating: [] } })[0] ?? '', /there is no webhook/);
    assert.match(
      reported({ installation, settings: { proof: { mode: 'warn' } } })[0] ?? '',
      /lets the pod start/,
    );
  });
});

suite('webhooks without a caBundle', () => {
  const where = 'there is no caBundle for pods.cni-gate.io in mutatingwebhookconfiguration/cni-gate';
  const [first, second] = gateWebhooks;
  const untrusted = (name: Parameters<typeof called>[0][number]): RegisteredWebhook[] =>
    called([name]).map((webhook) => ({ ...webhook, trusted: false }));

  test('are not in force, and are a fault', () => {
    const registered = { mutating: untrusted('pods.cni-gate.io') };
    const lines = [`prove enforce false ${where}`, gate, steer];
    assert.deepEqual(reported({ registered }, false), [...lines, `CNI_GATE_NOT_REGISTERED: ${where}`]);
    assert.deepEqual(reported({ registered }), [
      ...lines,
      `CNI_GATE_NOT_REGISTERED: ${where}, and namespaces have opted in`,
    ]);
  });

  test('are named, after one that is missing', () => {
    const distrusted = untrusted(second);
    assert.equal(
      reported({ registered: { validating: [...called([first]), ...distrusted] } })[1],
      `gate enforce false there is no caBundle for ${second} in validatingwebhookconfiguration/cni-gate`,
    );
    assert.match(reported({ registered: { validating: distrusted } })[1] ?? '', /there is no webhook/);
  });
});

suite('webhooks that are not registered', () => {
  const where = 'there is no webhook pods.cni-gate.io in mutatingwebhookconfiguration/cni-gate';
  const registered = { mutating: [] };

  test('are a fault, also before a namespace has opted in', () => {
    const missing = [`prove enforce false ${where}`, gate, steer];
    assert.deepEqual(reported({ registered }, false), [...missing, `CNI_GATE_NOT_REGISTERED: ${where}`]);
    assert.deepEqual(reported({ registered }), [
      ...missing,
      `CNI_GATE_NOT_REGISTERED: ${where}, and namespaces have opted in`,
    ]);
  });

  test('are a fault also where the mode rejects nothing: nothing is reported then', () => {
    const settings = { proof: { mode: 'warn' } };
    assert.match(reported({ settings, registered }).at(-1) ?? '', /^CNI_GATE_NOT_REGISTERED/);
  });

  test('are named, each that is missing', () => {
    const [first, ...others] = gateWebhooks;
    const lines = reported({ registered: { validating: called([first]) } });
    assert.equal(
      lines[1],
      `gate enforce false there is no webhook ${others.join()} in validatingwebhookconfiguration/cni-gate`,
    );
    assert.equal(lines[2], 'steer nominate false the gate is not in force, so no pod is refused');
    assert.match(lines[3] ?? '', /^CNI_GATE_NOT_REGISTERED/);
  });

  test('are unknown where they may not be read, which is no fault', () => {
    assert.deepEqual(reported({ registered: { mutating: undefined, validating: undefined } }), [
      'prove enforce null mutatingwebhookconfiguration/cni-gate may not be read',
      'gate enforce null validatingwebhookconfiguration/cni-gate may not be read',
      'steer nominate null whether the gate is in force is not known',
    ]);
  });
});

suite('repair', () => {
  const told = (
    repair: object,
    installation = unhindered as Parameters<typeof verbsOf>[1],
    repairStopped = false,
  ) => {
    const facts = {
      policy: policyOf({ repair }),
      registered: allRegistered,
      scheduler: recent,
      repairStopped,
    };
    const { mode, inForce, why } = verbsOf(facts, installation, true).verbs.at(-1) ?? {};
    return `${mode} ${inForce} ${why}`.trim();
  };

  test('follows the mode of the configuration', () => {
    assert.equal(told({}), 'audit false it reports what it would delete, and deletes nothing');
    assert.equal(told({ mode: 'off' }), 'off false pods whose proof failed stay as they are');
    assert.equal(told({ mode: 'recreate' }), 'recreate true');
  });

  test('deletes nothing with proof.mode warn', () => {
    const policy = policyOf({ repair: { mode: 'recreate' }, proof: { mode: 'warn' } });
    const facts = { policy, registered: allRegistered, scheduler: recent };
    const repair = verbsOf(facts, unhindered, true).verbs.at(-1);
    assert.equal(repair?.inForce, false);
    assert.match(repair?.why ?? '', /^with proof\.mode warn it reports/);
  });

  test('needs a leader', () => {
    const leaderless = { ...unhindered, leaderless: 'nobody holds it' };
    assert.equal(told({ mode: 'recreate' }, leaderless), 'recreate false nobody holds it');
  });

  test('is not in force where it has stopped', () => {
    const stopped = 'recreate false it has stopped: most recreated pods failed again';
    assert.equal(told({ mode: 'recreate' }, unhindered, true), stopped);
  });
});
