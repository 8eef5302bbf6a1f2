import { generateKey, type KeyPem } from '../../../certs/keys.ts';

/** So many that an authority and those it follows never have the same. */
const size = 24;

/**
 * Keys made once and handed out in turn: a test that makes thousands of certificates can't wait for a key for each.
 */
export async function keyRing(): Promise<() => Promise<KeyPem>> {
  const ring: KeyPem[] = [];
  for (let made = 0; made < size; made++) ring.push(await generateKey());
  let at = 0;
  return async () => ring[at++ % size] as KeyPem;
}
