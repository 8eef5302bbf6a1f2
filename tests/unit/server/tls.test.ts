import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createAuthority } from '../../../certs/issue.ts';
import { type CertificatePair, fileCertificate, selfMadeCertificate } from '../../../certs/sources.ts';

const hour = 3_600_000;
const silent = { onReload: () => {}, onError: () => {} };

test('a certificate made at start is issued anew at two thirds of its life, by the same authority', async (t) => {
  const renewed = Promise.withResolvers<CertificatePair>();
  t.mock.timers.enable({ apis: ['setInterval', 'Date'], now: Date.now() });
  const source = await selfMadeCertificate(['localhost'], 1, { ...silent, onReload: renewed.resolve });
  t.after(() => source.close());
  const first = source.current;
  t.mock.timers.tick(15 * hour);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(source.current, first, 'not before two thirds');
  t.mock.timers.tick(2 * hour);
  const second = await renewed.promise;
  assert.equal(source.current, second);
  assert.ok(second.notAfter.getTime() - first.notAfter.getTime() > 15 * hour);
  const authority = new X509Certificate(source.authority ?? '');
  assert.ok(new X509Certificate(second.certificate).verify(authority.publicKey));
});

test('a certificate in files without a name is refused: the API server would not take it', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const { certificate, key } = createAuthority({ commonName: 'localhost', days: 1, now: new Date() });
  const [certificateFile, keyFile] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  writeFileSync(certificateFile, certificate);
  writeFileSync(keyFile, key);
  assert.throws(() => fileCertificate(certificateFile, keyFile, silent), {
    code: 'CNI_GATE_TLS_PAIR',
    message: /tls\.crt has no subjectAltName/,
  });
});
