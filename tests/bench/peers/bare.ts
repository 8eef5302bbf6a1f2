/** A bare `node:https` as a process: `node bare.ts PORT FOLDER [ADDRESS]`, where the folder has `tls.crt` and `tls.key`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bareServer } from '../bare.ts';

const [port, folder = '', address = '127.0.0.1'] = process.argv.slice(2);
const file = (name: string): string => readFileSync(join(folder, name), 'utf8');
bareServer({ cert: file('tls.crt'), key: file('tls.key') }).listen(Number(port), address);
