import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Crate, complaints } from '../../../release/crates.ts';

const crate = (license: string | null, source: string | null = null): Crate => ({
  name: 'x',
  version: '1.0.0',
  license,
  source,
});
const cratesIo = 'registry+https://github.com/rust-lang/crates.io-index';

for (const license of ['MIT', 'MIT OR GPL-3.0', 'MIT/Apache-2.0', '(MIT OR Apache-2.0) AND Unicode-3.0']) {
  test(`a crate of crates.io with ${license}: nothing to say`, () =>
    assert.deepEqual(complaints([crate(license, cratesIo), crate('Apache-2.0')]), []));
}

for (const license of ['GPL-3.0', 'MIT AND GPL-3.0', '(MIT OR Zlib) AND GPL-3.0', null]) {
  test(`a crate with ${license ?? 'no license'}: named, with the licenses that are allowed`, () => {
    const [line = '', ...others] = complaints([crate(license, cratesIo)]);
    assert.match(line, /^x 1\.0\.0 has the license .*, not one of Apache-2\.0, MIT/);
    assert.deepEqual(others, []);
  });
}

for (const source of ['git+https://git.example/x?rev=1#1', 'registry+https://registry.example/index']) {
  test(`a crate from ${source}: named`, () =>
    assert.deepEqual(complaints([crate('MIT', source)]), [`x 1.0.0 is from ${source}, not from crates.io`]));
}
