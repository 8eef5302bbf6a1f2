import { readFileSync } from 'node:fs';

const dockerfileText = (): string => readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8');

/** The images in FROM lines that come from a registry, in order: without earlier stages and `scratch`. */
export function baseImages(): string[] {
  const stages = new Set(['scratch']);
  return [...dockerfileText().matchAll(/^FROM (?:--\S+ )*(\S+)(?: AS (\S+))?/gm)].flatMap(
    ([, image = '', stage]) => {
      if (stages.has(image)) return [];
      if (stage !== undefined) stages.add(stage);
      return image;
    },
  );
}
