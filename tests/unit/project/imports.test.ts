import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** What the files of a folder may import, besides files of that folder. */
interface Rule {
  folders: string[];
  /** Packages and modules of Node. The name of one of the {@link groups} stands for all members of the group. */
  packages: string[];
}

const io = ['node:fs', 'node:fs/promises', 'node:http', 'node:timers/promises'];
const anyNode = builtinModules.map((name) => `node:${name}`);
const groups: Record<string, string[]> = {
  node: anyNode,
  pure: anyNode.filter((name) => !io.includes(name)),
};
const libraries = ['ajv', 'fast-json-patch', 'prom-client', 'yaml'];

const lib = ['webhook/lib', 'validator/shared'];
const core = [...lib, 'webhook/core'];
const view = [...core, 'webhook/config', 'webhook/cluster', 'webhook/cluster/view'];
const server = [...view, 'webhook/admission', 'webhook/leader'];

/** The rules by folder. The rule of the innermost folder applies. */
const rules: Record<string, Rule> = {
  'webhook/lib': { folders: lib, packages: ['node', ...libraries] },
  // `core` and `report` import only types of API objects from the client
  'webhook/core': { folders: core, packages: ['pure', ...libraries, '@kubernetes/client-node'] },
  'webhook/config': { folders: core, packages: ['node', ...libraries] },
  'webhook/cluster': { folders: lib, packages: ['node', ...libraries, '@kubernetes/client-node'] },
  'webhook/cluster/view': { folders: view, packages: ['node', ...libraries] },
  'webhook/admission': { folders: core, packages: ['pure', ...libraries] },
  'webhook/leader': { folders: [...core, 'webhook/cluster'], packages: ['node', ...libraries] },
  'webhook/review': {
    folders: [...core, 'webhook/admission', 'webhook/config', 'certs'],
    packages: ['node', ...libraries, 'diff', 'fast-xml-parser'],
  },
  'webhook/report': {
    folders: [...server, 'certs'],
    packages: ['node', ...libraries, 'fastify', '@kubernetes/client-node'],
  },
  'webhook/server': { folders: [...server, 'certs'], packages: ['node', ...libraries, 'fastify', 'pino'] },
  certs: { folders: [...lib, 'webhook/cluster'], packages: ['node', ...libraries, 'node-forge'] },
  validator: { folders: ['validator/host', 'validator/shared'], packages: [] },
  'validator/shared': { folders: [], packages: [] },
  'validator/host': { folders: ['validator/shared'], packages: [] },
};

/** The innermost folder that contains a file and has a rule. */
function ruledFolder(path: string): string | undefined {
  const folders = Object.keys(rules).filter((folder) => path.startsWith(`${folder}/`));
  return folders.toSorted((one, other) => other.length - one.length)[0];
}

/** Whether a file may import a package, a module of Node, or a file by its relative path. */
function mayImport(file: string, source: string): boolean {
  const own = ruledFolder(file);
  const rule = rules[own ?? ''];
  if (own === undefined || rule === undefined) return true;
  if (!source.startsWith('.')) return rule.packages.some((name) => (groups[name] ?? [name]).includes(source));
  const target = join(dirname(file), source);
  if (target === 'package.json') return true;
  const to = ruledFolder(target);
  if (to === own) return true;
  return rule.folders.some((folder) => (rules[folder] ? to === folder : target.startsWith(`${folder}/`)));
}

test('every folder imports only what its rule allows, including types', () => {
  const files = globSync('{webhook,certs,validator,release}/**/*.ts', { cwd: root });
  const refused = files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const imports = text.matchAll(/^(?:import|export)(?:[^;']*? from)? '([^']+)'|\bimport\('([^']+)'\)/gm);
    const sources = [...imports].map(([, statement, call]) => statement ?? call ?? '');
    return sources.filter((source) => !mayImport(file, source)).map((source) => `${file}: ${source}`);
  });
  assert.ok(files.length > 100);
  assert.deepEqual(refused, []);
});
