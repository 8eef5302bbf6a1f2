import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { conditionList } from '../../../release/reference/profiles.ts';
import { builtInProfiles } from '../../../webhook/config/builtin.ts';

/* A new profile needs only its own file and a guide, because no source lists the profiles. */

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The built-in profiles, except modes of another profile, such as `istio-ambient`. */
const networks = builtInProfiles()
  .map(({ name }) => name)
  .filter((name, _, names) => !names.some((other) => name.startsWith(`${other}-`)));

/** The profiles themselves, and generated files. */
const allowed =
  /^(webhook\/config\/profiles|charts\/cni-gate\/templates\/generated|manifests\/components\/policies)\//;

/** The first two adjacent lines that name two networks, without comments and blank lines. */
function listIn(path: string, whole: string): string | undefined {
  const comments = path.endsWith('.ts') ? /\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g : /#.*/g;
  const text = whole
    .replaceAll(comments, '')
    .replace(conditionList, '')
    .replaceAll(/\n\s*\n/g, '\n');
  const lines = text.split('\n');
  return lines
    .map((line, at) => `${line}\n${lines[at + 1] ?? ''}`)
    .find((pair) => {
      const named = networks.filter((name) => new RegExp(`(?<![a-z])${name}(?![a-z])`, 'i').test(pair));
      return named.length > 1;
    });
}

test('no source lists the profiles', () => {
  const sources = '{webhook,certs,validator,release,manifests,charts,templates}/**/*.{ts,yaml,yml,tpl,sh,rs}';
  const files = globSync(sources, { cwd: root }).filter((path) => !allowed.test(path));
  const lists = files.flatMap((path) => {
    const list = listIn(path, readFileSync(`${root}${path}`, 'utf8'));
    return list === undefined ? [] : [`${path}:\n${list}`];
  });
  assert.ok(files.length > 200);
  assert.deepEqual(lists, [], 'take the list from builtInProfiles(), or generate it');
  const [one, two] = networks;
  assert.ok(
    listIn('a.ts', `const url = 'https://example'; // why\nconst port = { ${one}: 1,\n\n'${two}': 2 };`),
  );
  assert.equal(listIn('a.ts', `/* ${one},\n * ${two} */\nconst a = '${one}';`), undefined);
});
