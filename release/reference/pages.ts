import { readFileSync, writeFileSync } from 'node:fs';
import { parsePolicy } from '../../webhook/config/load.ts';
import { policiesYaml, webhookPatch } from '../../webhook/core/policies/policy.ts';
import { commandHelp, metricList } from './lists.ts';
import { fillConditions, fillPolicy, profileList } from './profiles.ts';
import { configurationTypes } from './types.ts';

/** Generators of blocks in a page, by the word after `generated:`, such as `<!-- generated: metrics server -->`. */
const generators: Record<string, (name: string) => string> = {
  help: commandHelp,
  metrics: metricList,
  profiles: profileList,
};

const generated = '# Generated from webhook/core/policies/ by `npm run generate`. Do not edit.\n';

/** Files that this folder generates in whole or in part. All other text in them is hand-written. */
export const generatedFiles: Record<string, (text: string) => string> = {
  'README.md': fillBlocks,
  'docs/reference/command-line.md': fillBlocks,
  'docs/reference/metrics.md': fillBlocks,
  'manifests/base/mutating-webhook.yaml': fillConditions,
  'manifests/base/policy-pods.yaml': fillPolicy,
  'manifests/components/policies/policy.yaml': () => generated + policiesYaml(parsePolicy()),
  'manifests/components/policies/webhook.yaml': () => generated + webhookPatch(),
  'webhook/core/profiles/configuration.ts': configurationTypes,
};

/** @throws Error if a block names something that does not exist */
function fillBlocks(page: string): string {
  return page.replace(
    /(<!-- generated: (\w+) ([^\n]+) -->\n).*?(<!-- end -->)/gs,
    (_, start: string, kind: string, name: string, end: string) => {
      const text = generators[kind]?.(name);
      if (text === undefined) throw new Error(`nothing generates ${kind} ${name}`);
      return `${start}\n${text}\n\n${end}`;
    },
  );
}

// npm run generate
if (import.meta.main) {
  for (const [name, generate] of Object.entries(generatedFiles)) {
    const path = new URL(`../../${name}`, import.meta.url);
    writeFileSync(path, generate(readFileSync(path, 'utf8')));
  }
}
