import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/**
 * The webhook configurations of the manifests, for a server behind the Service that they name. `status` compares
 * what is registered with the manifests, so that a narrower registration is a fault to it.
 *
 * @param authority of the server's certificate, PEM
 */
export function installedRegistrations(authority: Buffer): object[] {
  return ['mutating', 'validating'].map((kind) => {
    const file = new URL(`../../../manifests/base/${kind}-webhook.yaml`, import.meta.url);
    const configuration: { webhooks: { clientConfig: object }[] } = parse(readFileSync(file, 'utf8'));
    const caBundle = authority.toString('base64');
    const webhooks = configuration.webhooks.map((webhook) => ({
      ...webhook,
      clientConfig: { ...webhook.clientConfig, caBundle },
    }));
    return { ...configuration, webhooks };
  });
}
