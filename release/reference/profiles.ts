import { readFileSync } from 'node:fs';
import { builtInProfiles } from '../../webhook/config/builtin.ts';
import { parsePolicy } from '../../webhook/config/load.ts';
import { conditionsOf } from '../../webhook/core/policies/conditions.ts';
import { leftReasons } from '../../webhook/core/policies/left.ts';
import type { Profile } from '../../webhook/core/profiles/types.ts';
import { checkNameOf } from '../../webhook/core/profiles/types.ts';
import { wrap } from '../../webhook/lib/wrap.ts';

/** The built-in profiles, as Markdown. @param guides the path of docs/guides/ from the page */
export function profileList(guides: string): string {
  return builtInProfiles()
    .map((profile) => {
      const checks = profile.proof.checks.map((check) => `\`${checkNameOf(check)}\``);
      return `- [\`${profile.name}\`](${guides}${profile.name}.md): ${titleOf(profile)}; checks ${[...new Set(checks)].join(', ')}`;
    })
    .join('\n');
}

/** The name of the profile's network: the title of its guide. */
function titleOf({ name }: Profile): string {
  const guide = readFileSync(new URL(`../../docs/guides/${name}.md`, import.meta.url), 'utf8');
  return guide.slice(2, guide.indexOf('\n'));
}

/** Matches the match conditions in a manifest. */
export const conditionList = /^( *)matchConditions:\n(?:\1 .*\n)+/m;

const reasonList = /^( *)- name: reasons\n *expression: >-\n(?:\1 {4}.*\n)+/m;

/** Writes the match conditions, and why a pod may need the server, into the policy that checks the final pod. */
export const fillPolicy = (manifest: string): string =>
  fillConditions(manifest).replace(reasonList, (_, indent: string) => {
    // JSON is also valid CEL
    const map = JSON.stringify(leftReasons, null, 1).replaceAll(/\n */g, ' ');
    const lines = wrap(map, 110).map((line) => `${indent}    ${line.trim()}`);
    return [`${indent}- name: reasons`, `${indent}  expression: >-`, ...lines, ''].join('\n');
  });

/** Writes the match conditions of the built-in profiles into a manifest. */
export function fillConditions(manifest: string): string {
  if (!conditionList.test(manifest)) throw new Error('the manifest has no matchConditions');
  return manifest.replace(conditionList, (_, indent: string) => {
    const items = conditionsOf(parsePolicy()).flatMap(({ name, expression }) => [
      `${indent}  - name: ${name}`,
      `${indent}    expression: >-`,
      ...wrap(expression, 110 - indent.length).map((line) => `${indent}      ${line.trim()}`),
    ]);
    return [`${indent}matchConditions:`, ...items, ''].join('\n');
  });
}
