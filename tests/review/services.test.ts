import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { suite, test } from 'node:test';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { version } from '../../webhook/lib/version.ts';
import { type Report, summarize } from '../../webhook/review/model.ts';
import { pathFrom, reportRoot } from '../../webhook/review/output/problems.ts';
import { githubOutput, gitlabOutput, sarifOutput } from '../../webhook/review/output/services.ts';
import { commandsIn } from '../support/workflow-commands.ts';
import { command, folderWith, namespaceOf, pod, reviewFiles } from './support.ts';

const root = '/repository';

/** A refusal, an unknown key, a document that is not YAML, and a pod without any finding. */
const files = {
  'a.yaml': [
    namespaceOf('shop', 'cilium'),
    pod('good'),
    pod('refused').replace('metadata:', 'metadata:\n  labels: {cni-gate.io/profile: nowhere}'),
    pod('misspelled').replace('metadata:', 'metadata:\n  labels: {cni-gate.io/profil: cilium}'),
  ].join('---\n'),
  'b.yaml': 'a: b: c\n',
};

/** The report on {@link files}, changed as if the files were in the repository. */
async function report(t: Parameters<typeof folderWith>[0]): Promise<Report> {
  const { report: read } = await reviewFiles(t, files);
  for (const place of [...read.documents, ...read.faults, ...read.findings]) {
    place.file = place.file.replace(/^.*\//, '/repository/deploy/');
  }
  return read;
}

interface SarifResult {
  ruleId: string;
  level: string;
  message: { text: string };
  locations: { physicalLocation: Record<string, Record<string, unknown>> }[];
}

/** The published schema of SARIF 2.1.0 without `$schema` and `id`, the only fields of an older JSON Schema draft. */
const validateSarif = (() => {
  const schema = createRequire(import.meta.url)('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json');
  const { $schema, id, ...rest } = schema;
  assert.match($schema, /draft-04/);
  assert.match(id, /sarif-2\.1\.0-rtm\.5\.json$/);
  const isUri = (text: string): boolean => URL.canParse(text);
  const ajv = new Ajv({
    strict: false,
    unicodeRegExp: false,
    formats: {
      uri: isUri,
      'uri-reference': (text) =>
        URL.canParse(text, 'file:///') && !/[ "<>\\^`{|}]|%(?![\dA-F]{2})/.test(text),
      'date-time': true,
    },
  });
  return ajv.compile(rest);
})();

const sarifFaults = (log: unknown): unknown => (validateSarif(log) ? undefined : validateSarif.errors);

suite('SARIF', () => {
  test('a result for each problem, by the published schema', async (t) => {
    const log = JSON.parse(sarifOutput(await report(t), false, root));
    assert.equal(sarifFaults(log), undefined);
    const [{ tool, results }] = log.runs;
    const rules: { id: string; helpUri: string }[] = tool.driver.rules;
    assert.equal(tool.driver.semanticVersion, version);
    assert.deepEqual(
      results.map(({ ruleId, level, locations: [location] }: SarifResult) => {
        assert.ok(rules.some(({ id }) => id === ruleId));
        const { artifactLocation, region } = location?.physicalLocation ?? {};
        assert.equal(artifactLocation?.uriBaseId, '%SRCROOT%');
        return [level, ruleId, artifactLocation.uri, region?.startLine, region?.startColumn];
      }),
      [
        ['error', 'CNI_GATE_INPUT_SYNTAX', 'deploy/b.yaml', 1, 4],
        ['error', 'CNI_GATE_PROFILE_UNKNOWN', 'deploy/a.yaml', 18, undefined],
        ['warning', 'CNI_GATE_KEY_UNKNOWN', 'deploy/a.yaml', 32, undefined],
      ],
    );
    assert.match(results[2].message.text, /^Pod shop\/misspelled: label cni-gate\.io\/profil is/);
    for (const { id, helpUri } of rules) assert.ok(helpUri.endsWith(`errors.md#${id.toLowerCase()}`));
  });
});

const reportOf = (...faults: Report['faults']): Report => ({
  documents: [],
  reviewed: [],
  faults,
  findings: [],
  otherObjects: new Map(),
  namespaces: 0,
});

suite('GitHub annotations', () => {
  test('a command for each problem, then totals', async (t) => {
    const read = await report(t);
    const { commands, others } = commandsIn(githubOutput(read, summarize(read), false, root));
    assert.deepEqual(
      commands.map(({ name, properties }) => [name, properties]),
      [
        ['error', { title: 'CNI_GATE_INPUT_SYNTAX', file: 'deploy/b.yaml', line: '1', col: '4' }],
        ['error', { title: 'CNI_GATE_PROFILE_UNKNOWN', file: 'deploy/a.yaml', line: '18' }],
        ['warning', { title: 'CNI_GATE_KEY_UNKNOWN', file: 'deploy/a.yaml', line: '32' }],
      ],
    );
    assert.match(commands[1]?.text ?? '', /^Pod shop\/refused: profile "nowhere" does not exist/);
    assert.deepEqual(others, ['reviewed 3 workloads: 2 injected, 1 refused', 'failed']);
  });

  test('any text of the input: one command with that text, and no other', () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .array(
          fc.constantFrom('::', '##[add-mask]', ',', ':', '%', '%0A', '%25', '\r', '\n', '\u2028', 'x', '='),
        )
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(hostile, hostile, (name, message) => {
        const file = `/repository/x${name}`;
        const read = reportOf({ code: 'CNI_GATE_INPUT_SYNTAX', message, file, line: 3, column: 4 });
        const { commands, others } = commandsIn(githubOutput(read, summarize(read), false, root));
        assert.equal(commands.length, 1);
        const [command] = commands;
        assert.equal(command?.name, 'error');
        assert.deepEqual(Object.keys(command?.properties ?? {}), ['title', 'file', 'line', 'col']);
        assert.equal(others.length, 2);
        // a message without characters that must be removed comes back unchanged
        if (!/[\p{Cc}\p{Cf}\ud800-\udfff]/u.test(message)) assert.equal(command?.text, message);
      }),
      { numRuns: 500 },
    );
  });
});

suite('GitLab Code Quality', () => {
  test('a violation for each problem, with its own fingerprint', async (t) => {
    const violations = JSON.parse(gitlabOutput(await report(t), false, root));
    assert.deepEqual(
      violations.map((one: Record<string, unknown>) => [one.severity, one.check_name, one.location]),
      [
        ['major', 'CNI_GATE_INPUT_SYNTAX', { path: 'deploy/b.yaml', lines: { begin: 1 } }],
        ['major', 'CNI_GATE_PROFILE_UNKNOWN', { path: 'deploy/a.yaml', lines: { begin: 18 } }],
        ['minor', 'CNI_GATE_KEY_UNKNOWN', { path: 'deploy/a.yaml', lines: { begin: 32 } }],
      ],
    );
  });

  test('equal problems have different fingerprints, which do not depend on lines', () => {
    const at = (line: number) => ({
      code: 'CNI_GATE_INPUT_SYNTAX' as const,
      message: 'no',
      file: 'a.yaml',
      line,
    });
    const fingerprints = (...lines: number[]): unknown[] =>
      JSON.parse(gitlabOutput(reportOf(...lines.map(at)), false, root)).map(
        (one: Record<string, unknown>) => one.fingerprint,
      );
    const first = fingerprints(1, 5);
    assert.notEqual(first[0], first[1]);
    assert.deepEqual(fingerprints(2, 9), first);
  });
});

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
});

test('the command: each form, with the exit codes of a review', async (t) => {
  const folder = folderWith(t, files);
  const sarif = await command(join(folder, 'a.yaml'), '-o', 'sarif');
  assert.equal(sarif.status, 1);
  assert.equal(sarifFaults(JSON.parse(sarif.output)), undefined);
  const gitlab = await command(join(folder, 'a.yaml'), '-o', 'gitlab');
  assert.equal(JSON.parse(gitlab.output)[0].location.path, join(folder, 'a.yaml'));
  const github = await command(join(folder, 'b.yaml'), '-o', 'github');
  assert.equal(github.status, 2);
  // standard output and standard error are one log in CI, so each problem must be in only one of the two
  assert.equal(github.messages, '');
  assert.equal(commandsIn(github.output).commands.length, 1);
});
