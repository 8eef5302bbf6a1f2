import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterError, refusal } from '../../../../webhook/cluster/errors.ts';
import { operationOf } from '../../../../webhook/cluster/operation.ts';
import { roleFor, withRoleNamed } from '../../../../webhook/report/facts/role.ts';

const operation = operationOf('GET', '/api/v1/nodes');
const forbidden = (user: string) =>
  refusal(operation, 403, {
    message: `nodes is forbidden: User "${user}" cannot list resource "nodes" in API group "" at the cluster scope`,
    reason: 'Forbidden',
  });

test('the error of a missing right names the role, and the command that binds it to the caller', () => {
  const cases: [user: string, flag: string][] = [
    ['jane@example.com', '--user=jane@example.com'],
    ['https://issuer#jane doe', "--user='https://issuer#jane doe'"],
    ["o'neill", "--user='o'\\''neill'"],
    ['system:serviceaccount:ops:status', '--serviceaccount=ops:status'],
  ];
  for (const [user, flag] of cases) {
    const command = `kubectl create clusterrolebinding cni-gate-status --clusterrole=cni-gate-status ${flag}`;
    assert.ok(
      roleFor(forbidden(user)).endsWith(
        `ClusterRole cni-gate-status of the manifests has every right that status needs; who may bind it runs: ${command}`,
      ),
    );
  }
});

test('the error keeps its code, its status and its message', () => {
  const error = forbidden('jane');
  const named = withRoleNamed(error);
  assert.ok(named instanceof ClusterError);
  assert.deepEqual(
    [named.code, named.status, named.reason],
    ['CNI_GATE_CLUSTER_FORBIDDEN', 403, 'Forbidden'],
  );
  assert.equal(named.message, error.message + roleFor(error));
});

test('other errors do not change', () => {
  for (const error of [refusal(operation, 500, ''), new Error('forbidden')]) {
    assert.equal(withRoleNamed(error), error);
    assert.equal(roleFor(error), '');
  }
});
