import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { main } from '../support/command.ts';
import { jsonListOfDeployments } from '../support/large-inputs.ts';

/** Says at the end how much memory the process had at its most, in KiB. */
const tellMemory =
  "data:text/javascript,process.on('exit',()=>process.stderr.write('maxRSS '+process.resourceUsage().maxRSS))";

const what = 'one List of 3,000 workloads, as kubectl get --all-namespaces --output json prints it';

describe(what, { concurrency: 2 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-large-'));
  const list = join(folder, 'list.json');
  before(() => writeFileSync(list, jsonListOfDeployments(3000)));
  after(() => rmSync(folder, { recursive: true }));

  /** Reviews the list as a process of its own. */
  async function reviewed(output: string, options: string) {
    const written = join(folder, `out.${output}${options}`);
    const file = openSync(written, 'w');
    const start = performance.now();
    const args = [
      '--import',
      tellMemory,
      main,
      'review',
      '-f',
      list,
      '--profile',
      'cilium',
      '--output',
      output,
    ];
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', file, 'pipe'],
      env: { ...process.env, NODE_OPTIONS: options },
    });
    assert.ok(child.stderr);
    const [stderr, [status]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    closeSync(file);
    const seconds = (performance.now() - start) / 1000;
    const mebibytes = Number(/maxRSS (\d+)/.exec(stderr)?.[1]) / 1024;
    return { status, stderr, seconds, mebibytes, size: statSync(written).size };
  }

  for (const output of ['text', 'json', 'junit', 'yaml']) {
    test(`--output ${output} takes at most 700 MB`, async (t) => {
      assert.ok(statSync(list).size > 42e6);
      const { status, stderr, seconds, mebibytes, size } = await reviewed(output, '');
      t.diagnostic(`${mebibytes.toFixed(0)} MiB, ${seconds.toFixed(1)} s, ${size} bytes printed`);
      assert.equal(status, 0, stderr);
      assert.ok(mebibytes * 2 ** 20 < 700e6, `${mebibytes} MiB`);
    });
  }

  test('with too little memory it ends with an error, not with an abort', async () => {
    const { status, stderr } = await reviewed('text', '--max-old-space-size=128');
    assert.equal(status, 2, stderr);
    assert.match(stderr, /review accepts [\d.]+ MiB of input in total.*--max-old-space-size/);
  });
});
