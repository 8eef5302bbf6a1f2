import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/*
 * Fails where a crate of the validator's host is not from crates.io, or has no license that a static program of Apache-2.0
 * may carry. What `cargo deny check sources licenses` would say, without a program to install and without a network.
 */

/** What is read of a package of `cargo metadata`. */
export interface Crate {
  name: string;
  version: string;
  /** SPDX expression. */
  license: string | null;
  /** Null for a package of this checkout. */
  source: string | null;
}

const cratesIo = 'registry+https://github.com/rust-lang/crates.io-index';

/** Licenses that ask for no more than to be named. */
const allowed = ['Apache-2.0', 'MIT', 'Unicode-3.0', 'Zlib'];

/** What is wrong with the crates, one line each. */
export function complaints(crates: Crate[]): string[] {
  return crates.flatMap(({ name, version, license, source }) => {
    const crate = `${name} ${version}`;
    return [
      ...(source === null || source === cratesIo ? [] : [`${crate} is from ${source}, not from crates.io`]),
      ...(isAllowed(license ?? '')
        ? []
        : [`${crate} has the license ${license ?? 'none'}, not one of ${allowed.join(', ')}`]),
    ];
  });
}

/** Whether one license of each part that AND joins is allowed. */
const isAllowed = (expression: string): boolean =>
  expression.split(' AND ').every((part) =>
    part
      .replace(/[()]/g, '')
      .split(/ OR |\//)
      .some((license) => allowed.includes(license)),
  );

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const cwd = fileURLToPath(new URL('../validator/host', import.meta.url));
  const metadata = execFileSync('cargo', ['metadata', '--locked', '--format-version', '1'], {
    cwd,
    maxBuffer: 1 << 28,
  });
  const { packages }: { packages: Crate[] } = JSON.parse(metadata.toString());
  const found = complaints(packages);
  if (found.length > 0) throw new Error(found.join('\n'));
}
