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
      for (const daemonSet of daemonSets) {
        assert.match(
          text,
          new RegExp(`kubectl -n ${daemonSet.namespace} get daemonset .*\\b${daemonSet.name}\\b`),
        );
      }
    });
  }
});

describe('each tells how to look, which version steering needs, and of autoscalers', () => {
  for (const { name } of builtInProfiles()) {
    test(name, () => {
      const { text = '' } = guideOf(name) ?? {};
      const sections = new Map(text.split(/^## /m).map((section) => [section.split('\n')[0], section]));
      assert.match(sections.get('Verify') ?? '', /^npx cni-gate status /m);
      const failure = sections.get('What a failure looks like') ?? '';
      assert.match(failure, /`npx cni-gate status .*\[Kubernetes 1\.35 and later\]\(install\.md\)/);
      assert.match(
        sections.get('Autoscalers') ?? '',
        /cluster-autoscaler and Karpenter .*\(autoscalers\.md\)/,
      );
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

const nameOf = (path: string): string => `](${path.split('/').at(-1)})`;
