import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { mutate } from '../../../webhook/admission/mutate.ts';
import { fitWarnings, respond } from '../../../webhook/admission/respond.ts';
import { reviewNamespace } from '../../../webhook/admission/review-namespace.ts';
import { FixedNamespaces } from '../../../webhook/core/facts/namespace.ts';
import { reasonText } from '../../../webhook/core/facts/status-annotation.ts';
import { CniGateError, errorCodes } from '../../../webhook/lib/errors.ts';
import { policyOf } from '../../support/configurations.ts';
import { namespaceReview, namespaceWith } from '../../support/namespace-reviews.ts';
import { patchOf, recorded } from '../../support/reviews.ts';

const labels = { 'cni-gate.io/profile': 'cilium' };

const fails = (error: Error) => () => {
  throw error;
};
const answer = (facts: () => never, policy = policyOf(), body = recorded('pod-ad-hoc')) =>
  mutate(body, { policy, namespaces: { facts } }).review.response;

suite('mutate', () => {
  test("proof.mode warn: the pod's annotation has the error code, unless an earlier call wrote one", () => {
    const policy = policyOf({ proof: { mode: 'warn' } });
    const busy = fails(new CniGateError('CNI_GATE_CLUSTER_BUSY', 'the API server is busy'));
    const ask = (annotations: Record<string, string>) => {
      const body = recorded('pod-ad-hoc');
      body.request.object.metadata.annotations = annotations;
      const response = answer(busy, policy, body);
      assert.deepEqual(response.warnings, ['CNI_GATE_CLUSTER_BUSY: the API server is busy']);
      return patchOf(response);
    };
    const value = reasonText('CNI_GATE_CLUSTER_BUSY');
    const path = '/metadata/annotations/cni-gate.io~1status';
    assert.deepEqual(ask({}), [{ op: 'add', path, value }]);
    assert.deepEqual(ask({ 'cni-gate.io/status': '' }), [{ op: 'replace', path, value }]);
    assert.deepEqual(ask({ 'cni-gate.io/status': '{"checks":["address"]}' }), []);
  });

  test('proof.replaces: each container of the name goes, and no other one', () => {
    const redirect = { direction: 'outbound', listen: 4140, connect: ['192.0.2.2:1404'], timeout: '5s' };
    const replaces = ['linkerd-network-validator'];
    const mesh = { name: 'mesh', proof: { checks: [{ redirect }], replaces } };
    const namespaces = new FixedNamespaces(new Map([['shop', { 'cni-gate.io/profile': 'mesh' }]]));
    const body = recorded('pod-deployment-web');
    body.request.namespace = 'shop';
    // the API server validates names after admission, so a pod may contain the same name twice
    const names = [...replaces, ...replaces, 'migrate'];
    body.request.object.spec.initContainers = names.map((name) => ({ name, image: 'example/a:1' }));
    const { response } = mutate(body, { policy: policyOf({ profiles: [mesh] }), namespaces }).review;
    const removed = patchOf(response).filter(({ op }) => op === 'remove');
    assert.deepEqual(
      removed.map(({ path }) => path),
      ['/spec/initContainers/2', '/spec/initContainers/1'],
    );
  });

  test("a refusal fits the scheduler's event, and keeps its code", () => {
    const long = new CniGateError('CNI_GATE_NAMESPACE_UNKNOWN', 'a long word '.repeat(200));
    const text = answer(fails(long)).status?.message ?? '';
    assert.ok(Buffer.byteLength(text) <= 900);
    assert.match(text, /^a long word .* (a|long|word)… \(CNI_GATE_NAMESPACE_UNKNOWN\)$/);
  });

  test('an exempt pod needs no namespace', () => {
    const { auditAnnotations } = answer(
      () => assert.fail('asked'),
      policyOf(),
      recorded('pod-host-networked'),
    );
    assert.equal(auditAnnotations?.reason, 'host-network');
  });

  test('a failed lookup is reported; a defect is not treated as an answer', () => {
    const reported = answer(fails(new CniGateError('CNI_GATE_NAMESPACE_UNKNOWN', 'no namespace "shop"')));
    assert.equal(reported.allowed, false);
    assert.equal(reported.status?.message, 'no namespace "shop" (CNI_GATE_NAMESPACE_UNKNOWN)');
    assert.throws(() => answer(fails(new TypeError('defect'))), TypeError);
  });
});

suite('a patch is applied before it is sent', () => {
  // fast-json-patch refuses to set this key, so the patch does not apply; no configuration file can contain the key
  const annotations = JSON.parse('{"__proto__":"x"}');
  const answerIn = (mode: 'enforce' | 'warn') => {
    const policy = policyOf({ proof: { mode } }).withProfiles((profile) => ({ ...profile, annotations }));
    const namespaces = { facts: () => ({ labels }) };
    const body = recorded('pod-ad-hoc');
    body.request.object.metadata.annotations = {};
    const { decision, review } = mutate(body, { policy, namespaces });
    assert.deepEqual(
      [decision.profile, decision.operations, review.response.patch],
      ['cilium', [], undefined],
    );
    return review.response;
  };

  test('one that does not apply: a refusal without a patch', () => {
    const { allowed, status } = answerIn('enforce');
    assert.deepEqual([allowed, status?.code], [false, 403]);
    // the pattern allows one line only, so the text does not contain the pod
    assert.match(
      status?.message ?? '',
      /^the patch for this pod does not apply, so it was not sent: .*banned for security reasons.* \(CNI_GATE_PATCH_FAILED\)$/,
    );
  });

  test('proof.mode warn: a warning', () => {
    const { allowed, warnings = [] } = answerIn('warn');
    assert.deepEqual([allowed, warnings.length], [true, 1]);
    assert.match(warnings[0] ?? '', /^CNI_GATE_PATCH_FAILED: the patch for this pod does not apply/);
  });
});

test('a given profile opts in every namespace and overrides its label', () => {
  const known = new Map([['shop', { ...labels, env: 'prod' }]]);
  assert.equal(new FixedNamespaces(known).facts('lab'), undefined);
  const namespaces = new FixedNamespaces(known, 'linkerd');
  assert.deepEqual(namespaces.facts('shop'), { labels: { 'cni-gate.io/profile': 'linkerd', env: 'prod' } });
  assert.deepEqual(namespaces.facts('lab'), { labels: { 'cni-gate.io/profile': 'linkerd' } });
});

test('120 characters are unchanged, 121 are cut, and a character of four bytes counts once', () => {
  const cut = `${'🚚'.repeat(119)}…`;
  assert.deepEqual(fitWarnings(['x'.repeat(120)]), ['x'.repeat(120)]);
  assert.deepEqual(fitWarnings(['🚚'.repeat(120)]), ['🚚'.repeat(120)]);
  assert.deepEqual(fitWarnings(['🚚'.repeat(121)]), [cut]);
});

test('an error code at the end is kept, whatever is cut before it', () => {
  for (const code of Object.keys(errorCodes)) {
    const [text = ''] = fitWarnings([`${'🚚'.repeat(120)}: what is wrong (${code})`]);
    assert.equal([...text].length, 120);
    assert.match(text, new RegExp(`^🚚+… \\(${code}\\)$`, 'u'));
  }
  assert.match(fitWarnings([`(CNI_GATE_INTERNAL) ${'x'.repeat(120)}`])[0] ?? '', /xx…$/);
});

test('a warning is one line, as a header must be', () => {
  assert.deepEqual(fitWarnings(['a\r\n b\t\u0000c \ud800 d\n']), ['a b c d']);
});

test('equal warnings appear once, even if only the cut texts are equal', () => {
  assert.deepEqual(fitWarnings(['a', 'b', 'a']), ['a', 'b']);
  assert.equal(fitWarnings([`${'x'.repeat(130)}1`, `${'x'.repeat(130)}2`]).length, 1);
});

test('from 30 warnings on, the rest is counted', () => {
  const all = Array.from({ length: 100 }, (_, index) => `${index}`);
  assert.deepEqual(fitWarnings(all), [...all.slice(0, 30), 'and 70 more warnings']);
});

function warningsFor(label: unknown, policy = policyOf()): string[] {
  const { request, decision } = reviewNamespace(namespaceReview(namespaceWith(label)), policy);
  const { response } = respond(request.uid, decision);
  assert.equal(response.allowed, true);
  assert.equal(response.patch, undefined);
  return response.warnings ?? [];
}

test('a label that is wrong, with proof.mode warn: the warning names the effect', () => {
  const warns = policyOf({ proof: { mode: 'warn' } });
  assert.ok(
    warningsFor('likerd', warns).includes(
      'pods are created without a proof in namespace shop while its label cni-gate.io/profile is wrong',
    ),
  );
});

test('a valid, empty or absent label: no warning', () => {
  for (const label of ['linkerd', 'cilium.linkerd', 'none', '', undefined]) {
    assert.deepEqual(warningsFor(label), [], String(label));
  }
  assert.deepEqual(warningsFor('mine', policyOf({ profiles: [{ name: 'mine' }] })), []);
  const { decision } = reviewNamespace(namespaceReview(namespaceWith('cilium.linkerd')), policyOf());
  assert.deepEqual([decision.profile, decision.profiles], ['cilium.linkerd', ['cilium', 'linkerd']]);
});
