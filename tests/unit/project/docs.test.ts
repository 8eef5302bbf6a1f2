import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { metricSections } from '../../../release/reference/lists.ts';
import { generatedFiles } from '../../../release/reference/pages.ts';
import { createProgram } from '../../../webhook/commands/program.ts';
import { builtInProfiles } from '../../../webhook/config/builtin.ts';
import { parseConfiguration } from '../../../webhook/config/load.ts';
import { type ErrorCode, errorCodes, errorPage } from '../../../webhook/lib/errors.ts';
import { docsUrl } from '../../../webhook/lib/names.ts';
import { catalogue, checkPage } from '../../../webhook/report/judge/catalogue.ts';
import { head } from '../../support/configurations.ts';
import { blocks, pages } from '../../support/pages.ts';

/* Every page, section, file, command and metric that the documentation or a message names must exist. */

const root = fileURLToPath(new URL('../../../', import.meta.url));
const text = (path: string): string => readFileSync(join(root, path), 'utf8');
const documentation = pages('*.md', '{certs,docs,examples,manifests,tests,validator,webhook}/**/*.md');
const docs = documentation.filter(({ path }) => /^(README|docs\/)/.test(path));

/** Every string in a value, at any depth. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

const manifests = globSync('manifests/**/*.yaml', { cwd: root }).flatMap((path) =>
  textsIn(parseAllDocuments(text(path), { merge: true }).map((document) => document.toJS())),
);

/** GitHub's anchors for the headings of a page. */
const anchorsOf = (path: string): string[] =>
  [...text(path).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );

/** Whether a file exists and, if an anchor is given, has the anchor. */
const leads = (path: string, anchor: string | undefined): boolean =>
  existsSync(join(root, path)) && (anchor === undefined || anchorsOf(path).includes(anchor));

suite('links', () => {
  // a user who reads a message has no checkout of the repository
  test('messages in manifests name pages by their URL', () => {
    const relative = manifests.filter((message) => message.replaceAll(docsUrl, '').includes('docs/'));
    assert.deepEqual(relative, []);
  });

  test('of messages lead to a page and its section', () => {
    const links = [
      ...manifests.flatMap((message) => message.match(/https:\/\/github\.com\/cni-gate\/\S+/g) ?? []),
      ...Object.keys(errorCodes).map((code) => errorPage(code as ErrorCode)),
      ...catalogue.map(({ id }) => checkPage(id)),
    ];
    for (const link of links) {
      const [path = '', anchor] = link.split(docsUrl)[1]?.split('#') ?? [];
      assert.ok(path !== '' && leads(`docs/${path}`, anchor), link);
    }
  });

  test('between pages lead to a file and its section', () => {
    const broken = documentation.flatMap(({ path, text: page }) =>
      [...page.matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
        .filter(([, to = '', anchor]) => !leads(to === '' ? path : join(dirname(path), to), anchor))
        .map(([link]) => `${path}: ${link}`),
    );
    assert.deepEqual(broken, []);
  });
});

test('every source file that the documentation names exists', () => {
  const name = /\b(?:certs|manifests|tests|validator|webhook)\/[\w./-]+\.(?:json|sh|ts|yaml)\b/g;
  const missing = documentation
    .filter(({ path }) => path !== 'CHANGELOG.md')
    .flatMap(({ path, text: page }) => (page.match(name) ?? []).map((file) => [path, file] as const))
    .filter(([, file]) => !existsSync(join(root, file)));
  assert.deepEqual(missing, []);
});

test('every metric that the documentation names exists', () => {
  const names = (page: string): string[] =>
    [...page.matchAll(/`(cni_gate_[a-z_]*[a-z])[`{]/g)].map(([, name = '']) => name);
  const known = new Set(names(text('docs/reference/metrics.md')));
  const named = docs.flatMap(({ text: page }) => names(page));
  assert.deepEqual(
    named.filter((name) => !known.has(name)),
    [],
  );
});

suite('every configuration in the documentation is valid', () => {
  for (const path of globSync('docs/guides/profiles/*.yaml', { cwd: root }))
    test(path, () => void parseConfiguration(text(path), path));
  for (const { path, text: page } of docs) {
    for (const block of blocks(page, 'yaml')) {
      const value = parse(block) ?? {};
      if (value.kind === 'Configuration') test(path, () => void parseConfiguration(block, path));
      else if ('profiles' in value && !('kind' in value))
        test(path, () => void parseConfiguration(head + block, path));
    }
  }
});

suite('the reference has what the code declares', () => {
  for (const [name, generate] of Object.entries(generatedFiles)) {
    test(name, () => {
      assert.equal(text(name), generate(text(name)), `${name} is out of date: npm run generate`);
    });
  }

  const generated = (page: string, kind: string): (string | undefined)[] =>
    [...text(`docs/reference/${page}`).matchAll(/^<!-- generated: (\w+) (.+) -->$/gm)]
      .filter(([, word]) => word === kind)
      .map(([, , name]) => name)
      .toSorted();

  test('every command', () => {
    const paths = createProgram().commands.flatMap((command) =>
      command.commands.length === 0
        ? [command.name()]
        : command.commands.map((subcommand) => `${command.name()} ${subcommand.name()}`),
    );
    assert.deepEqual(generated('command-line.md', 'help'), paths.toSorted());
  });

  test('every error code, with its sentence', () => {
    const sections = text('docs/reference/errors.md').matchAll(/^### (CNI_GATE_\w+)\n\n(.*)$/gm);
    const described = Array.from(sections, ([, code = '', sentence]) => [code, sentence]);
    assert.deepEqual(described.toSorted(), Object.entries(errorCodes).toSorted());
  });

  test('every section of metrics', () =>
    assert.deepEqual(generated('metrics.md', 'metrics'), metricSections.toSorted()));
});

suite('each built-in profile has a guide with its label and its DaemonSets', () => {
  for (const { name, daemonSets } of builtInProfiles()) {
    test(name, () => {
      const guide = text(`docs/guides/${name}.md`);
      assert.ok(guide.includes(`cni-gate.io/profile=${name}\n`));
      for (const { namespace, name: daemonSet } of daemonSets)
        if (typeof namespace === 'string')
          assert.match(guide, new RegExp(`kubectl -n ${namespace} get daemonset .*\\b${daemonSet}\\b`));
        else {
          assert.ok(guide.includes(`kubectl get daemonset -A --field-selector metadata.name=${daemonSet}\n`));
          for (const place of namespace) assert.ok(guide.includes(`\`${place}\``));
        }
    });
  }
});
