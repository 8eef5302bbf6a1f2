import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { conditionList } from '../../../release/reference/profiles.ts';
import { builtInProfiles } from '../../../webhook/config/builtin.ts';

/* A new profile needs only its own file and a guide, because no other file lists the profiles. */

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The built-in profiles, except those for a mode of another profile's network, such as `istio-ambient`. */
const networks = builtInProfiles()
  .map(({ name }) => name)
  .filter((name, _, names) => !names.some((other) => name.startsWith(`${other}-`)));

/**
 * Files that may list profiles: the profiles themselves, their guides and test cases (and the clusters for which
 * `check --pre` proposes them), the suites on real networks, the changelog, generated files, other projects' taints,
 * policy agents and faults, and the validator's advice.
 */
const allowed = [
  'webhook/config/profiles/',
  'docs/guides/autoscalers.md',
  'docs/guides/network-policies.md',
  'docs/guides/profiles/',
  'tests/golden/cases/',
  'tests/netns/',
  'tests/node/',
  'tests/unit/report/rows.test.ts',
  'tests/cluster/policies.test.ts',
  'tests/support/arbitrary/creations.ts',
  'CHANGELOG.md',
  'charts/cni-gate/templates/generated/',
  'manifests/components/policies/policy.yaml',
  'docs/reference/proof-table.md',
  'docs/reference/upstream-faults.md',
  'validator/reasons.ts',
];

const source = /^(webhook|certs|validator|release|manifests|charts|templates)\//;

/**
 * Finds the first lines of a text that name many networks close together.
 *
 * @param networksIn the number of networks that make a list
 * @param within the maximum number of lines of a list
 */
function listIn(text: string, networksIn: number, within: number): string | undefined {
  const named = networks.filter((name) => new RegExp(`(?<![a-z])${name}(?![a-z])`, 'i').test(text));
  if (named.length < networksIn) return undefined;
  const lines = text.split('\n');
  if (lines.length <= within) return text;
  const starts = Array.from({ length: lines.length - within + 1 }, (_, start) => start);
  const parts = starts.map((start) => lines.slice(start, start + within).join('\n'));
  return parts.find((part) => listIn(part, networksIn, within) !== undefined);
}

/** Finds a list: in code, two networks in four lines, comments excluded; in other files, four in five lines. */
function listOf(path: string, whole: string): string | undefined {
  const text = whole.replaceAll(/<!-- generated: .*?<!-- end -->/gs, '').replace(conditionList, '');
  if (!source.test(path)) return listIn(text, 4, 5);
  const comments = /\.ya?ml$/.test(extname(path)) ? /#.*/g : /\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g;
  return listIn(text.replaceAll(comments, '').replaceAll(/\n\s*\n/g, '\n'), 2, 4);
}

test('no file lists the profiles', () => {
  const folders = '{webhook,certs,validator,release,manifests,charts,templates,tests,docs,examples,schemas}';
  const files = globSync(
    [`${folders}/**/*.*`, '.github/**/*.yml', '.ci/*', 'Dockerfile', '*.{md,yml,json}'],
    {
      cwd: root,
      exclude: (path) => /node_modules|package-lock/.test(path),
    },
  ).filter((path) => /^Dockerfile$|^\.ci\/|\.(m?[jt]s|rs|json|ya?ml|md|txt|tpl|sh|html|css)$/.test(path));
  const lists = files
    .filter((path) => !allowed.some((start) => path.startsWith(start)))
    .flatMap((path) => {
      const list = listOf(path, readFileSync(`${root}${path}`, 'utf8'));
      return list === undefined ? [] : [`${path}:\n${list}`];
    });
  assert.ok(files.length > 500);
  assert.deepEqual(lists, [], 'take the list from builtInProfiles(), or generate it');
});

test('a list in code is found, and examples do not count', () => {
  const [one, two, three, four] = networks;
  const code = `const port = { ${one}: 1,\n  '${two}': 2 };`;
  assert.ok(listOf('webhook/a.ts', code));
  assert.ok(listOf('webhook/a.ts', `const url = 'https://example'; // why\n${code}`));
  assert.ok(listOf('webhook/a.ts', code.replace(',\n', ',\n\n')));
  assert.ok(listOf('manifests/a.yaml', `- ${one}\n- kube-system/${two}\n`));
  assert.equal(listOf('webhook/a.ts', `/* ${one},\n * ${two} */\nconst a = '${one}';`), undefined);
  assert.equal(listOf('tests/a.ts', code), undefined);
  assert.ok(listOf('tests/a.ts', `a\n${one}, ${two}, ${three},\n${four}\n\n\n`));
});
