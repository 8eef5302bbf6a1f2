import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/* Fails if a crate is not from crates.io, or has a license that is not suitable for a program under Apache-2.0. */

/** Licenses that require only a notice in the program. */
const allowed = ['Apache-2.0', 'MIT', 'Unicode-3.0', 'Zlib'];

/** Whether each operand of AND contains at least one allowed license. @param expression SPDX expression */
const isAllowed = (expression: string | null): boolean =>
  (expression ?? '')
    .replace(/[()]/g, '')
    .split(' AND ')
    .every((part) => part.split(/ OR |\//).some((license) => allowed.includes(license)));

const metadata = execFileSync('cargo', ['metadata', '--locked', '--format-version', '1'], {
  cwd: fileURLToPath(new URL('../../validator/host', import.meta.url)),
  maxBuffer: 1 << 28,
});
/** `source` is null for a package of this checkout. */
const { packages }: { packages: { name: string; license: string | null; source: string | null }[] } =
  JSON.parse(metadata.toString());
const wrong = packages.filter(
  ({ license, source }) =>
    !isAllowed(license) || (source ?? 'crates.io-index').split('/').at(-1) !== 'crates.io-index',
);
if (wrong.length > 0)
  throw new Error(`not from crates.io, or not with an allowed license: ${JSON.stringify(wrong)}`);
