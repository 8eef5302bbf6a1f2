import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseConfiguration } from '../../../webhook/config/load.ts';
import { cniGate } from '../../support/command.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const guide = readFileSync(new URL('../../../docs/guides/own-profile.md', import.meta.url), 'utf8');
const samples = globSync('docs/guides/profiles/!(istio-*|linkerd-*).yaml', { cwd: root }).sort();
assert.ok(samples.length > 0);

for (const path of samples) {
  const name = basename(path, '.yaml');
  test(`${name}.yaml: review --config injects its checks, and the guide names its DaemonSets`, () => {
    const args = ['review', '-f', 'examples/web.yaml', '--config', path, '--profile', name];
    const { status, stdout, stderr } = cniGate(args, { cwd: root });
    assert.equal(status, 0, stderr);
    assert.match(stdout, new RegExp(`^injected Deployment shop/web .*: ${name}$`, 'm'));
    const configuration = parseConfiguration(readFileSync(`${root}${path}`, 'utf8'), path);
    const profile = configuration.profiles.find((one) => one.name === name);
    assert.deepEqual(
      profile?.proof.checks.flatMap((check) => Object.keys(check)),
      ['address', 'gateway'],
    );
    assert.ok(guide.includes(`(profiles/${name}.yaml)`));
    for (const { namespace, name: daemonSet } of profile?.daemonSets ?? []) {
      assert.ok(guide.includes(`\`${namespace}/${daemonSet}\``));
    }
  });
}
