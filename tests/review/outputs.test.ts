import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { version } from '../../webhook/lib/version.ts';
import { summarize } from '../../webhook/review/model.ts';
import { pathFrom, problemsOf, reportRoot } from '../../webhook/review/output/problems.ts';
import { githubOutput, sarifOutput } from '../../webhook/review/output/reports.ts';
import { configuredProfiles } from '../support/configurations.ts';
import { folderWith } from '../support/folder.ts';
import { commandsIn } from '../support/workflow-commands.ts';
import { command, labelled, namespaceOf, pod } from './support.ts';

/** A repository with each kind of problem, and with pods without a problem. Its configuration forbids opting out. */
const files = {
  'cni-gate.conf': 'apiVersion: cni-gate.io/v1alpha1\nkind: Configuration\nproof: {allowOptOut: false}\n',
  'a.yaml': [
    pod('good'),
    labelled('warned', 'none'),
    labelled('refused', 'nowhere'),
    pod('other', 'elsewhere'),
    pod('host').replace('spec:', 'spec:\n  hostNetwork: true'),
    labelled('misspelled', 'cilium', 'profil'),
    namespaceOf('shop', 'cilium'),
  ].join('---\n'),
  'b.yaml': `kind: Service\napiVersion: v1\n---\n${labelled('broken', '1.10')}---\na: b: c\n`,
};

/** Runs the command on {@link files} in a folder that GITHUB_WORKSPACE names, and returns what it prints. */
async function printed(t: TestContext, ...args: string[]) {
  const folder = folderWith(t, files);
  const { GITHUB_WORKSPACE: before = '' } = process.env;
  process.env.GITHUB_WORKSPACE = folder;
  try {
    const result = await command(folder, '--config', join(folder, 'cni-gate.conf'), ...args);
    assert.equal(result.status, 2);
    const [output = '', messages = ''] = [result.output, result.messages].map((text) =>
      text.replaceAll(`${folder}/`, ''),
    );
    return { output, messages };
  } finally {
    process.env.GITHUB_WORKSPACE = before;
  }
}

/** The level, code, file, line and column of each problem of {@link files}. */
const problems = [
  ['error', 'CNI_GATE_INPUT_SYNTAX', 'b.yaml', 15, 4],
  ['error', 'CNI_GATE_INPUT_SYNTAX', 'b.yaml', 7, undefined],
  ['warning', 'admission-warning', 'a.yaml', 11, undefined],
  ['error', 'CNI_GATE_PROFILE_UNKNOWN', 'a.yaml', 22, undefined],
  ['warning', 'CNI_GATE_KEY_UNKNOWN', 'a.yaml', 57, undefined],
  ['warning', 'CNI_GATE_NAMESPACE_NOT_GIVEN', 'a.yaml', 37, undefined],
] as const;

const optOut =
  'label cni-gate.io/profile: none is not allowed (proof.allowOptOut), so profile cilium applies';
const unknown = `profile "nowhere" of "cilium.nowhere" does not exist; ${configuredProfiles}`;
const misspelled =
  'label cni-gate.io/profil has no effect: cni-gate reads the label cni-gate.io/profile of Namespaces and pods';
const notGiven =
  'is not in the input, so the checks of 1 workload are not known: add it to the input, set another with -n for objects that name none, or use --profile';

test('text without a diff: a line for each workload, then findings and totals; unreadable input is in standard error', async (t) => {
  const { output, messages } = await printed(t, '--summary');
  assert.deepEqual(output.split('\n'), [
    'injected Pod shop/good (a.yaml:1): cilium',
    'injected Pod shop/warned (a.yaml:11): cilium',
    '  note: needs the server: its label cni-gate.io/profile leaves out a profile of its namespace, which is not allowed: name that profile too',
    `  warning: ${optOut}`,
    `refused Pod shop/refused (a.yaml:22): ${unknown} (CNI_GATE_PROFILE_UNKNOWN)`,
    'skipped Pod elsewhere/other (a.yaml:33): namespace-not-given',
    'skipped Pod shop/host (a.yaml:43): host-network',
    'injected Pod shop/misspelled (a.yaml:54): cilium',
    `  warning: ${misspelled} (CNI_GATE_KEY_UNKNOWN)`,
    `warning Namespace elsewhere (a.yaml:37): ${notGiven} (CNI_GATE_NAMESPACE_NOT_GIVEN)`,
    'reviewed 6 workloads: 3 injected, 2 skipped (namespace-not-given 1, host-network 1), 1 refused',
    '3 warnings, 1 other object (Service 1), 2 unreadable',
    'failed',
    '',
  ]);
  assert.deepEqual(messages.split('\n').slice(1), [
    'cni-gate: b.yaml:7: error: Pod shop/broken: metadata.labels["cni-gate.io/profile"] must be string, is 1.1: put it in quotes (CNI_GATE_INPUT_SYNTAX)',
    '',
  ]);
});

test('JSON: one document with summary, workloads, findings and errors', async (t) => {
  const { summary, workloads, findings, errors } = JSON.parse((await printed(t, '-o', 'json')).output);
  const skipped = { 'namespace-not-given': 1, 'host-network': 1 };
  const outcomes = { injected: 3, updated: 0, current: 0, removed: 0, skipped, warned: 0, refused: 1 };
  const others = { otherObjects: { Service: 1 }, namespaces: 1, warnings: 1, findings: 2, errors: 2 };
  assert.deepEqual(summary, { workloads: 6, ...outcomes, ...others });
  const { patch, ...good } = workloads[0];
  assert.deepEqual(good, {
    ...{ apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'good', file: 'a.yaml', line: 1 },
    ...{ outcome: 'injected', reason: 'profile-applies', profiles: ['cilium'] },
    ...{ checks: ['address', 'gateway', 'roundTrip'], warnings: [] },
  });
  assert.deepEqual(
    patch.map(({ op, path }: { op: string; path: string }) => `${op} ${path}`),
    ['add /spec/initContainers', 'add /metadata/labels', 'add /metadata/annotations'],
  );
  assert.deepEqual(workloads[1].warnings, [optOut]);
  assert.equal(workloads[2].message, `${unknown} (CNI_GATE_PROFILE_UNKNOWN)`);
  const [code, file] = ['CNI_GATE_KEY_UNKNOWN', 'a.yaml'];
  assert.deepEqual(findings[0], {
    code,
    message: misspelled,
    file,
    line: 57,
    subject: 'Pod shop/misspelled',
  });
  assert.deepEqual([errors[1].file, errors[1].line], ['b.yaml', 7]);
});

test('JUnit: a suite for each file, a case for each workload that is admitted and for each problem', async (t) => {
  const parser = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '' });
  const suites = async (...args: string[]) => {
    const { output } = await printed(t, '-o', 'junit', ...args);
    assert.equal(XMLValidator.validate(output), true);
    return parser.parse(output).testsuites.testsuite;
  };
  const [a, b] = await suites();
  // biome-ignore lint/suspicious/noExplicitAny: parsed XML
  const shown = (one: any) => [one.name, one.line, one.failure?.type ?? one.skipped?.message];
  assert.deepEqual([a.name, a.tests, a.failures, b.name, b.failures], ['a.yaml', '9', '1', 'b.yaml', '2']);
  assert.deepEqual(a.testcase.map(shown), [
    ['Pod shop/good', '1', undefined],
    ['Pod shop/warned', '11', undefined],
    ['Pod elsewhere/other', '33', 'namespace-not-given'],
    ['Pod shop/host', '43', 'host-network'],
    ['Pod shop/misspelled', '54', undefined],
    ['Pod shop/warned admission-warning', '11', undefined],
    ['Pod shop/refused CNI_GATE_PROFILE_UNKNOWN', '22', 'CNI_GATE_PROFILE_UNKNOWN'],
    ['Pod shop/misspelled CNI_GATE_KEY_UNKNOWN', '57', undefined],
    ['Namespace elsewhere CNI_GATE_NAMESPACE_NOT_GIVEN', '37', undefined],
  ]);
  assert.equal(a.testcase[0]['system-out'], 'injected: cilium');
  assert.equal(a.testcase[6].failure.message, `Pod shop/refused: ${unknown}`);
  const [strict] = await suites('--strict');
  assert.equal(strict.testcase[5].failure.message, `Pod shop/warned: ${optOut}`);
  assert.equal(strict.failures, '4');
});

test('SARIF: a result for each problem, by the published schema', async (t) => {
  const schema = createRequire(import.meta.url)('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json');
  // `$schema` and `id` are the only fields of an older JSON Schema draft
  const { $schema: _, id: __, ...rest } = schema;
  const ajv = new Ajv({
    strict: false,
    unicodeRegExp: false,
    formats: {
      uri: (text) => URL.canParse(text),
      'uri-reference': (text) =>
        URL.canParse(text, 'file:///') && !/[ "<>\\^`{|}]|%(?![\dA-F]{2})/.test(text),
      'date-time': true,
    },
  });
  const log = JSON.parse((await printed(t, '-o', 'sarif')).output);
  const isValid: boolean = ajv.validate(rest, log);
  assert.ok(isValid, ajv.errorsText());
  const [{ tool, columnKind, results }] = log.runs;
  assert.deepEqual([tool.driver.semanticVersion, columnKind], [version, 'utf16CodeUnits']);
  assert.deepEqual(
    // biome-ignore lint/suspicious/noExplicitAny: by the schema
    results.map(({ level, ruleId, locations: [{ physicalLocation }] }: any) => {
      const { artifactLocation, region } = physicalLocation;
      assert.equal(artifactLocation.uriBaseId, '%SRCROOT%');
      return [level, ruleId, artifactLocation.uri, region.startLine, region.startColumn];
    }),
    problems,
  );
  assert.equal(results[4].message.text, `Pod shop/misspelled: ${misspelled}`);
  for (const { id, helpUri } of tool.driver.rules)
    assert.ok(
      helpUri.endsWith(id === 'admission-warning' ? '#in-ci---strict' : `errors.md#${id.toLowerCase()}`),
    );
});

test('GitHub annotations: a command for each problem, then totals, and nothing in standard error', async (t) => {
  const { output, messages } = await printed(t, '-o', 'github');
  const { commands, others } = commandsIn(output);
  assert.deepEqual(
    commands.map(({ name, properties: { title, file, line, col } }) => [
      ...[name, title, file],
      ...[Number(line), col && Number(col)],
    ]),
    problems,
  );
  assert.equal(commands[3]?.text, `Pod shop/refused: ${unknown}`);
  assert.match(others[0] ?? '', /^reviewed 6 workloads: 3 injected, /);
  // CI joins standard output and standard error in one log, so each problem must be in only one of the two
  assert.deepEqual([others.slice(1), messages], [['failed'], '']);
});

test('GitLab Code Quality: a violation for each problem', async (t) => {
  const violations = JSON.parse((await printed(t, '-o', 'gitlab')).output);
  assert.deepEqual(
    // biome-ignore lint/suspicious/noExplicitAny: by GitLab's documentation
    violations.map(({ severity, check_name: code, location }: any) => [severity, code, location]),
    problems.map(([level, code, path, begin]) => [
      level === 'error' ? 'major' : 'minor',
      code,
      { path, lines: { begin } },
    ]),
  );
  assert.equal(violations[3].description, `Pod shop/refused: ${unknown}`);
  assert.equal(new Set(violations.map(({ fingerprint }: { fingerprint: string }) => fingerprint)).size, 6);
});

/** A report that contains only errors, one at each of these places. */
const reportAt = (...places: { message?: string; file: string; line: number }[]) => ({
  documents: [],
  reviewed: [],
  faults: places.map((place) => ({
    code: 'CNI_GATE_INPUT_SYNTAX' as const,
    message: 'no',
    column: 4,
    ...place,
  })),
  findings: [],
  otherObjects: new Map(),
  namespaces: 0,
});

test('equal problems have different fingerprints, which do not depend on lines', () => {
  const fingerprints = (...lines: number[]): string[] =>
    problemsOf(reportAt(...lines.map((line) => ({ file: 'a.yaml', line }))), false, '/').map(
      ({ fingerprint }) => fingerprint,
    );
  const first = fingerprints(1, 5);
  assert.notEqual(first[0], first[1]);
  assert.deepEqual(fingerprints(2, 9), first);
});

test('any text of the input: one GitHub command with that text, and no other', () => {
  const parts = ['::', '##[add-mask]', ',', ':', '%', '%0A', '%25', '\r', '\n', '\u2028', 'x', '='];
  const hostile = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fc.constantFrom(...parts)).map((some) => some.join('')),
  );
  fc.assert(
    fc.property(hostile, hostile, (name, message) => {
      const read = reportAt({ message, file: `/repository/x${name}`, line: 3 });
      const output = githubOutput(problemsOf(read, false, '/repository'), summarize(read), false);
      const { commands, others } = commandsIn(output);
      assert.deepEqual([commands.length, others.length], [1, 2]);
      const [{ name: level, properties, text } = { name: '', properties: {}, text: '' }] = commands;
      assert.deepEqual([level, ...Object.keys(properties)], ['error', 'title', 'file', 'line', 'col']);
      // a message without characters that must be removed is unchanged
      if (!/[\p{Cc}\p{Cf}\ud800-\udfff]/u.test(message)) assert.equal(text, message);
    }),
    { numRuns: 200 },
  );
});

interface SarifResult {
  locations: [{ physicalLocation: { artifactLocation: { uri: string } } }];
}

test('names of files are from the root of the repository that CI names, or absolute', () => {
  for (const [env, file, expected] of [
    [{}, './a.yaml', 'a.yaml'],
    [{ GITHUB_WORKSPACE: resolve('..') }, 'a.yaml', `${basename(process.cwd())}/a.yaml`],
    [{ CI_PROJECT_DIR: '/repository' }, '/repository/..a.yaml', '..a.yaml'],
    [{ CI_PROJECT_DIR: '/repository' }, '/repository-2/a.yaml', '/repository-2/a.yaml'],
    [{ GITHUB_WORKSPACE: '' }, 'a.yaml', 'a.yaml'],
  ] as const) {
    assert.equal(pathFrom(reportRoot(env), file), expected, JSON.stringify(env));
  }
  const read = reportAt(
    { file: '/elsewhere/a b.yaml', line: 1 },
    { file: '/repository/\ud800 b.yaml', line: 1 },
  );
  const { runs } = JSON.parse(sarifOutput(problemsOf(read, false, '/repository')));
  assert.deepEqual(
    runs[0].results.map(({ locations }: SarifResult) => locations[0].physicalLocation.artifactLocation.uri),
    ['file:///elsewhere/a%20b.yaml', '%EF%BF%BD%20b.yaml'],
  );
});
