import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defaultImage } from '../../../webhook/config/load.ts';
import { pauseImage } from '../harness/settings.ts';
import { inRun } from '../setup.ts';
import type { Image } from './layout.ts';

/** In every image here: cni-gate's own files, for they bring a Node, and the programs of `programs/`. */
const programs = fileURLToPath(new URL('../programs/', import.meta.url));
const node = '/usr/local/bin/node';

/** The image that is injected: as the Dockerfile makes it, under the name that it will be published by. */
export const gateImage = (): Image => ({
  name: defaultImage,
  layers: [imageFiles()],
  config: JSON.parse(readFileSync(join(inRun().image, 'config.json'), 'utf8')),
});

const imageFiles = (): string => join(inRun().image, 'root');

/** Pods' sandboxes need a program that waits. */
export const sandboxImage = (): Image => standIn(pauseImage, 'pause.ts');

/**
 * An image that runs one of `programs/`.
 *
 * @param name tells containers apart in containerd's records, so images of one program may have several
 */
export function standIn(name: string, program: string): Image {
  return {
    name,
    layers: [imageFiles(), programs],
    // the same image under two names would be one of them to containerd
    config: { Entrypoint: [node, `/${program}`], Labels: { name } },
  };
}
