import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CniGateError, errnoOf, messageOf } from '../webhook/lib/errors.ts';
import { type Authority, createAuthority, issueServing } from './issue.ts';

/**
 * Issues a serving certificate into files, for servers that read it from files and for trials without a cluster. It
 * creates the authority where the folder has none, and uses it again where it has one.
 *
 * @param folder created where it does not exist
 * @returns the paths that were written
 * @throws CniGateError CNI_GATE_TLS_UNREADABLE, CNI_GATE_TLS_PAIR, CNI_GATE_USAGE
 */
export function issueIntoFiles(
  folder: string,
  {
    names,
    days,
    authorityDays,
    now,
  }: Record<'days' | 'authorityDays', number> & { names: string[]; now: Date },
): string[] {
  const path = (name: string): string => join(folder, name);
  const known = readAuthorityFiles(path('ca.crt'), path('ca.key'));
  const authority = known ?? createAuthority({ days: authorityDays, now });
  const leaf = issueServing(authority, { names, days, now });
  const texts: [file: string, text: string][] = [
    [path('tls.key'), leaf.key],
    [path('tls.crt'), leaf.certificate],
  ];
  if (!known) texts.unshift([path('ca.key'), authority.key], [path('ca.crt'), authority.certificate]);
  guarded(folder, () => mkdirSync(folder, { recursive: true }));
  for (const [file, text] of texts) {
    guarded(file, () => writeFileSync(file, text, { mode: file.endsWith('.key') ? 0o600 : 0o644 }));
  }
  return texts.map(([file]) => file);
}

function readAuthorityFiles(certificate: string, key: string): Authority | undefined {
  const found = [certificate, key].filter((file) => existsSync(file));
  if (found.length === 0) return undefined;
  if (found.length === 1) {
    const message = `${found[0]} is there without its ${found[0] === key ? 'certificate' : 'key'}: take it away, or choose another folder`;
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
