import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Authority } from '../../certs/issue.ts';

const extensionsOfAuthority = ['basicConstraints=critical,CA:true', 'keyUsage=critical,keyCertSign'];

/** The properties of a certificate that {@link certify} makes. */
export interface CertificateRequest {
  /** The name in openssl's form, such as `/O=system:masters/CN=admin`. */
  subject: string;
  /** Lines of openssl's configuration. By default, the certificate is that of an authority. */
  extensions?: string[];
  /** The authority that signs the certificate. By default, the certificate is self-signed. */
  signer?: Authority;
  days?: number;
  /** Arguments of `-newkey`. The default is an EC key. */
  key?: string[];
}

/** Makes a key and a certificate with openssl, as a user would. */
export function certify({
  subject,
  extensions = extensionsOfAuthority,
  signer,
  days = 1,
  key = ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
}: CertificateRequest): Authority {
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-openssl-'));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return name;
  };
  const lines = ['[req]', 'distinguished_name=name', 'x509_extensions=own', '[name]', '[own]'];
  const config = [...lines, 'subjectKeyIdentifier=hash', ...extensions, ''].join('\n');
  const signed = signer
    ? ['-CA', file('ca.crt', signer.certificate), '-CAkey', file('ca.key', signer.key)]
    : [];
  try {
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-config', file('config', config), '-newkey', ...key, '-nodes', ...signed],
        ...['-subj', subject, '-days', String(days), '-keyout', 'tls.key', '-out', 'tls.crt'],
      ],
      { cwd: folder, stdio: 'pipe' },
    );
    const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
    return { certificate: read('tls.crt'), key: read('tls.key') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
