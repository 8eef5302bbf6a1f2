import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, constants } from 'node:zlib';
import { archiveOf, archivePath, pinnedCommit } from './archive.ts';

/*
 * Makes another commit the previous release: after a release, its tag.
 *
 * usage: node tests/chart/previous/pin.ts REVISION
 */
const [revision] = process.argv.slice(2);
if (revision === undefined) throw new Error('usage: node tests/chart/previous/pin.ts REVISION');
const commit = execFileSync('git', ['rev-parse', '--verify', `${revision}^{commit}`], {
  encoding: 'utf8',
}).trim();
const tar = archiveOf(commit);
try {
  rmSync(archivePath(pinnedCommit()));
} catch {
  // there is none yet
}
const params = {
  [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
  [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
  [constants.BROTLI_PARAM_SIZE_HINT]: tar.length,
};
writeFileSync(archivePath(commit), brotliCompressSync(tar, { params }));
