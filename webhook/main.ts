#!/usr/bin/env node
/** The entry point of `cni-gate`. It has no static imports: an old Node would fail on them before the version check. */

/** The oldest Node version that the published package allows in `engines`. The script `prepack` sets `engines`. */
const leastNode: [major: number, minor: number] = [22, 19];

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < leastNode[0] || (major === leastNode[0] && minor < leastNode[1])) {
  console.error(
    `cni-gate: needs Node ${leastNode.join('.')} or later, this is ${process.version} (CNI_GATE_USAGE)`,
  );
  process.exitCode = 2;
} else {
  await import('./cli.ts');
}
