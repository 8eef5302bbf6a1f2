import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Authority, createAuthority } from '../../certs/authority.ts';
import { authorityName } from '../../certs/managed/carry-out.ts';
import { issueServing } from '../../certs/serving.ts';
import { CniGateError, errnoOf, messageOf } from '../lib/errors.ts';

/** What is written into a folder, by what it is. */
const files = { authority: 'ca.crt', authorityKey: 'ca.key', leaf: 'tls.crt', leafKey: 'tls.key' } as const;

/**
 * Issues a serving certificate into files, for those who serve one from files and for trials without a cluster. The
 * authority is made where the folder has none, and used again where it has one.
 *
 * @param folder made where it does not exist
 * @returns the paths that were written
 * @throws CniGateError CNI_GATE_TLS_UNREADABLE, CNI_GATE_TLS_PAIR, CNI_GATE_USAGE
 */
export async function issueIntoFiles(
  folder: string,
  request: { names: readonly string[]; days: number; authorityDays: number; now: Date },
): Promise<string[]> {
  const { names, days, authorityDays, now } = request;
  const path = (name: keyof typeof files): string => join(folder, files[name]);
  const known = readAuthority(path('authority'), path('authorityKey'));
  const authority = known ?? (await createAuthority({ commonName: authorityName, days: authorityDays, now }));
  const leaf = await issueServing(authority, { names, days, now });
  const texts: [string, string][] = [
    ...(known
      ? []
      : ([
          [path('authorityKey'), authority.key],
          [path('authority'), authority.certificate],
        ] satisfies [string, string][])),
    [path('leafKey'), leaf.key],
    [path('leaf'), leaf.certificate],
  ];
  guarded(folder, () => mkdirSync(folder, { recursive: true }));
  for (const [file, text] of texts) {
    guarded(file, () => writeFileSync(file, text, { mode: file.endsWith('.key') ? 0o600 : 0o644 }));
  }
  return texts.map(([file]) => file);
}

function readAuthority(certificate: string, key: string): Authority | undefined {
  const there = [certificate, key].filter((file) => existsSync(file));
  if (there.length === 0) return undefined;
  if (there.length === 1) {
    const message = `${there[0]} is there without its ${there[0] === key ? 'certificate' : 'key'}: take it away, or choose another folder`;
    throw new CniGateError('CNI_GATE_TLS_UNREADABLE', message);
  }
  const read = (file: string): string => guarded(file, () => readFileSync(file, 'utf8'));
  return { certificate: read(certificate), key: read(key) };
}

function guarded<Result>(path: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    const reason = errnoOf(error) ?? messageOf(error);
    throw new CniGateError('CNI_GATE_TLS_UNREADABLE', `cannot use ${path}: ${reason}`, { cause: error });
  }
}
