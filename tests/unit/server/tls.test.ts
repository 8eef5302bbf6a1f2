import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileCertificate } from '../../../certs/files.ts';
import { createAuthority } from '../../../certs/issue.ts';

const silent = { onReload: () => {}, onError: () => {} };

test('a certificate in files without a name is refused: the API server would not take it', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const { certificate, key } = createAuthority({ days: 1, now: new Date() });
  const [certificateFile, keyFile] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  writeFileSync(certificateFile, certificate);
  writeFileSync(keyFile, key);
  assert.throws(() => fileCertificate(certificateFile, keyFile, silent), {
    code: 'CNI_GATE_TLS_PAIR',
    message: /tls\.crt has no subjectAltName/,
  });
});
