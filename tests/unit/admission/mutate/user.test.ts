import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runAsFor } from '../../../../webhook/admission/mutate/user.ts';
import type { Pod } from '../../../../webhook/admission/pod.ts';

const pod = (securityContext: Record<string, number>): Pod => ({
  metadata: {},
  spec: { securityContext, containers: [{ name: 'app', image: 'registry.example/app:1' }] },
});

const exempt = (users: number[], groups: number[]) =>
  ({ words: [], notAsUsers: users, notAsGroups: groups }) as unknown as Parameters<typeof runAsFor>[1];

test('the container gets the first user below 65535 that no mesh exempts', () => {
  const root = pod({ runAsUser: 0 });
  assert.deepEqual(runAsFor(root, exempt([], [])), { runAsUser: 65_534, runAsGroup: 65_534 });
  assert.deepEqual(runAsFor(root, exempt([65_534], [])), { runAsUser: 65_533, runAsGroup: 65_533 });
  const both = exempt([65_534, 65_533], []);
  assert.deepEqual(runAsFor(root, both), { runAsUser: 65_532, runAsGroup: 65_532 });
});

test('the group differs from the user only if a mesh exempts that group', () => {
  const root = pod({ runAsUser: 0 });
  assert.deepEqual(runAsFor(root, exempt([], [65_534, 65_533])), { runAsUser: 65_534, runAsGroup: 65_532 });
  const inExemptGroup = pod({ runAsUser: 1000, runAsGroup: 2000 });
  assert.deepEqual(runAsFor(inExemptGroup, exempt([], [2000])), { runAsGroup: 65_534 });
  assert.deepEqual(runAsFor(inExemptGroup, exempt([], [])), {});
});
