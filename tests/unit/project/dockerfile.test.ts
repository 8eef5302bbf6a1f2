import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { validate } from 'dockerfile-utils';
import { version } from '../../../webhook/version.ts';
import { contextFiles } from '../../image/context.ts';
import { dockerfileText, readStages } from '../../image/dockerfile.ts';

const stages = readStages();
const image = stages.at(-1);

test('the Dockerfile has no fault that a linter knows', () => {
  assert.deepEqual(
    validate(dockerfileText()).map(({ message, range }) => `${range.start.line + 1}: ${message}`),
    [],
  );
});

test('every base image is pinned by a tag, and Node is the one that the tests run on', () => {
  const lock = JSON.parse(readFileSync(new URL('../../../package-lock.json', import.meta.url), 'utf8'));
  const node = lock.packages['node_modules/node'].version;
  for (const { base } of stages) {
    assert.match(base, /:(?!latest$)/);
    if (base.startsWith('node:')) assert.ok(base.startsWith(`node:${node}-`), `${base} is not Node ${node}`);
  }
});

test('every source of a COPY is in the build context, and nothing else is', async () => {
  const wanted = stages.flatMap(({ steps }) =>
    steps.flatMap((step) => ('copy' in step && step.copy.from === undefined ? step.copy.sources : [])),
  );
  const files = await contextFiles();
  const under = (file: string, source: string): boolean => file === source || file.startsWith(`${source}/`);
  for (const source of wanted)
    assert.ok(
      files.some((file) => under(file, source)),
      `COPY ${source}`,
    );
  assert.deepEqual(
    files.filter((file) => !wanted.some((source) => under(file, source))),
    [],
  );
});

test('no step is for one architecture, and JavaScript is built on the machine that builds', () => {
  assert.match(dockerfileText(), /^FROM --platform=\$BUILDPLATFORM .* AS build$/m);
  assert.doesNotMatch(dockerfileText(), /amd64|arm64|x86_64|aarch64/);
});

test('the image runs as a number, has an entrypoint in exec form, and is labelled with this version', () => {
  assert.match(image?.settings.get('USER')?.[0] ?? '', /^[1-9]\d*:[1-9]\d*$/);
  assert.match(dockerfileText(), /^ENTRYPOINT \[/m);
  assert.ok(image?.settings.get('LABEL')?.includes(`org.opencontainers.image.version="${version}"`));
  assert.equal(image?.settings.has('HEALTHCHECK'), false);
});
