import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { builtInProfiles } from '../../../webhook/config/builtin.ts';
import { type Page, pages } from '../../support/pages.ts';

const guides = pages('docs/guides/*.md');
const guideOf = (profile: string): Page | undefined =>
  guides.find(({ path }) => path === `docs/guides/${profile}.md`);

const headings = [
  'Before you begin',
  'Install',
  'Verify',
  'What a failure looks like',
  'Caveats',
  'Autoscalers',
];

describe('each built-in profile has a guide', () => {
  for (const { name, daemonSets } of builtInProfiles()) {
    test(`${name}: of the form that all have, with its label and its DaemonSets`, () => {
      const { text = '' } = guideOf(name) ?? {};
      assert.deepEqual(
        [...text.matchAll(/^## (.+)$/gm)]
          .map(([, heading]) => heading)
          .filter((heading) => heading !== "The network's own validator"),
        headings,
      );
      assert.ok(text.includes(`kubectl label namespace shop cni-gate.io/profile=${name}\n`));
      for (const { namespace, name: daemonSet } of daemonSets)
        assert.match(text, new RegExp(`kubectl -n ${namespace} get daemonset .*\\b${daemonSet}\\b`));
    });
  }
});

test('the list of guides has each of them', () => {
  const { text = '' } = guides.find(({ path }) => path.endsWith('/README.md')) ?? {};
  const missing = guides.filter(({ path }) => !path.endsWith('/README.md') && !text.includes(nameOf(path)));
  assert.deepEqual(
    missing.map(({ path }) => path),
    [],
  );
});

/** A link to a guide. */
const nameOf = (path: string): string => `${path.split('/').at(-1)})`;
