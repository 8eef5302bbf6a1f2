import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serverImage, validatorImage } from '../../../webhook/lib/version.ts';
import * as exported from '../../image/docker.ts';
import { pauseImage } from '../harness/settings.ts';
import { inRun } from '../setup.ts';
import type { Image } from './layout.ts';

/** The stand-ins' programs, which run on the Node.js of the server's image. */
const programs = fileURLToPath(new URL('../programs/', import.meta.url));
const node = '/usr/local/bin/node';

/** cni-gate's two images as the Dockerfile builds them, under the names under which they will be published. */
export const gateImages = (): Image[] => [
  ownImage(serverImage, exported.ownImage),
  ownImage(validatorImage, exported.validatorImage),
];

const ownImage = (name: string, exportedAs: string): Image => ({
  name,
  layers: [filesOf(exportedAs)],
  config: JSON.parse(readFileSync(join(inRun().images, exportedAs, 'config.json'), 'utf8')),
});

const filesOf = (exportedAs: string): string => join(inRun().images, exportedAs, 'root');

/** The image of a pod's pause container, whose program only waits. */
export const sandboxImage = (): Image => standIn(pauseImage, 'pause.ts');

/** An image that runs one of `programs/`. @param name also identifies its containers in containerd's records */
export function standIn(name: string, program: string): Image {
  return {
    name,
    layers: [filesOf(exported.ownImage), programs],
    // the label makes each image unique; containerd would report an image with two names under only one of them
    config: { Entrypoint: [node, `/${program}`], Labels: { name } },
  };
}
