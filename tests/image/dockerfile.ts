import { readFileSync } from 'node:fs';

export const dockerfileText = (): string =>
  readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8');

/** The image of each FROM, in order. */
export const baseImages = (): string[] =>
  [...dockerfileText().matchAll(/^FROM (?:--\S+ )*(\S+)/gm)].map(([, image = '']) => image);

/** What each COPY takes from the build context. */
export function copiedSources(): string[] {
  const copies = dockerfileText().matchAll(/^COPY (?!--from)(.+)$/gm);
  return [...copies].flatMap(([, words = '']) => words.split(' ').slice(0, -1));
}
