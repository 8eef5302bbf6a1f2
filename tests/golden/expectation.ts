import assert from 'node:assert/strict';
import type { Operation } from 'fast-json-patch';
import { version } from '../../webhook/lib/version.ts';
import type { Answer } from '../support/answers.ts';
import type { Expectation } from './case.ts';
import { abbreviated } from './injected.ts';

/** An answer in the form in which cases expect it. */
export function expectationOf({ decision, response, patch }: Answer): Expectation {
  const { outcome, reason } = decision;
  const { profiles, ...audit } = response.auditAnnotations ?? {};
  assert.deepEqual(audit, { outcome, reason }, 'the audit annotations');
  const reported = {
    outcome,
    reason,
    ...(profiles !== undefined && { profiles }),
    ...(response.warnings !== undefined && { warnings: response.warnings }),
    ...(response.status !== undefined && { message: response.status.message }),
    patch,
  };
  const { patch: operations, ...rest } = withPlaceholders(reported);
  return { ...rest, patch: operations.map(shortOperation) };
}

/** An operation as `OP PATH` with its value; `remove PATH` and `move FROM PATH` have no value. */
function shortOperation(operation: Operation): unknown {
  const { op, path, ...rest } = operation;
  if ('value' in rest) return { [`${op} ${path}`]: abbreviated(rest.value) };
  return 'from' in rest ? `${op} ${rest.from} ${path}` : `${op} ${path}`;
}

/**
 * Replaces what changes with a release or with a new profile by placeholders. The version is replaced only where an
 * injection writes the version, because a user's text may contain the same digits.
 */
function withPlaceholders<T>(value: T): T {
  const text = JSON.stringify(value)
    .replaceAll(`cni-gate-validator:${version}"`, 'cni-gate-validator:<version>"')
    .replaceAll(`\\"version\\":\\"${version}\\"`, '\\"version\\":\\"<version>\\"')
    .replaceAll(/(the configuration has: )[^"()]*?(?= \(|")/g, '$1<profiles>');
  return JSON.parse(text) as T;
}
