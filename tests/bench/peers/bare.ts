/**
 * A bare `node:https` as a process: `node bare.ts PORT FOLDER PATCH [ADDRESS]`. The folder has `tls.crt` and `tls.key`;
 * PATCH is how many characters of a patch it answers with.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bareServer } from '../bare.ts';

const [port, folder = '', patch, address = '127.0.0.1'] = process.argv.slice(2);
const file = (name: string): string => readFileSync(join(folder, name), 'utf8');
const tls = { cert: file('tls.crt'), key: file('tls.key') };
bareServer(tls, { parses: true, patch: Number(patch) }).listen(Number(port), address);
