import { readFileSync } from 'node:fs';
import { builtInProfiles } from '../../webhook/config/builtin.ts';
import type { Condition, Profile } from '../../webhook/core/profiles/types.ts';
import { checkNameOf } from '../../webhook/core/profiles/types.ts';

/** The built-in profiles, as Markdown. @param guides the path of docs/guides/ from the page */
export function profileList(guides: string): string {
  return builtInProfiles()
    .map((profile) => {
      const checks = profile.proof.checks.map((check) => `\`${checkNameOf(check)}\``);
      return `- [\`${profile.name}\`](${guides}${profile.name}.md): ${titleOf(profile)}, ${appliesTo(profile)}; checks ${[...new Set(checks)].join(', ')}`;
    })
    .join('\n');
}

/** The network's name: the title of the profile's guide. */
function titleOf({ name }: Profile): string {
  const guide = readFileSync(new URL(`../../docs/guides/${name}.md`, import.meta.url), 'utf8');
  return guide.slice(2, guide.indexOf('\n'));
}

/** What the profile's condition requires first; of several conditions, the first one. */
function appliesTo({ when }: Profile): string {
  const [{ container, namespaceLabels, labels, annotations } = {} as Condition] = [when].flat();
  const key = (keys: object): string => `\`${Object.keys(keys)[0]}\``;
  if (container) return `pods with the container \`${container}\``;
  if (namespaceLabels) return `pods of namespaces with the label ${key(namespaceLabels)}`;
  if (labels) return `pods with the label ${key(labels)}`;
  return annotations ? `pods with the annotation ${key(annotations)}` : 'all pods';
}

/** Matches the list of DaemonSets in a match condition of a manifest, with the text before the list and the indent. */
export const daemonSetList = /( owner\.name in \[)(\n +)[^\]]*(?=\])/;

/** Writes the DaemonSets of the built-in profiles into the match condition of a manifest that lists DaemonSets. */
export function fillDaemonSets(manifest: string): string {
  const names = builtInProfiles().flatMap(({ daemonSets }) =>
    daemonSets.map(({ namespace, name }) => `'${namespace}/${name}'`),
  );
  if (!daemonSetList.test(manifest)) throw new Error('the manifest has no list of DaemonSets');
  return manifest.replace(daemonSetList, (_, start: string, indent: string) =>
    [start, [...new Set(names)].sort().join(`,${indent}`)].join(indent),
  );
}
