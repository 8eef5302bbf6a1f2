import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { backends, restoreCommand } from '../rules/backends.ts';
import { familiesOf } from './addresses.ts';

const commands = [
  ...['ip', 'nsenter', 'unshare', 'setpriv', 'chroot', 'mount', 'bash', 'nft'],
  ...backends.flatMap((backend) => familiesOf('dual').map((family) => restoreCommand(backend, family))),
];

const remedy = 'As root on Debian or Ubuntu: tests/netns/install.sh';

/** Fails if this machine cannot run these tests, because they are never skipped. */
export async function requireMachine(): Promise<void> {
  if (process.platform !== 'linux') refuse('these tests need Linux');
  if (process.getuid?.() !== 0)
    refuse(
      'these tests make network namespaces and need root (a disposable machine, or a container with all capabilities)',
      'As another user: sudo --preserve-env env "PATH=$PATH" npm run suite netns',
    );
  const found = await Promise.all(commands.map(exists));
  const missing = commands.filter((_, index) => !found[index]);
  if (missing.length > 0) refuse(`these commands are missing: ${missing.join(', ')}`);
}

async function exists(command: string): Promise<boolean> {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const tries = folders.map((folder) => access(join(folder, command), constants.X_OK));
  return Promise.any(tries).then(
    () => true,
    () => false,
  );
}

function refuse(message: string, what = remedy): never {
  throw new Error(`NOT RUN: ${message}.\n${what}`);
}
