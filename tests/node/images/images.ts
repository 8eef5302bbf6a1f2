import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serverImage, validatorImage } from '../../../webhook/lib/version.ts';
import * as exported from '../../image/docker.ts';
import { pauseImage } from '../harness/settings.ts';
import { inRun } from '../setup.ts';
import type { Image } from './layout.ts';

/** The programs of the stand-ins. They run on the Node of the server's image. */
const programs = fileURLToPath(new URL('../programs/', import.meta.url));
const node = '/usr/local/bin/node';

/** cni-gate's two images, as the Dockerfile makes them, under the names that they will be published by. */
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

/** Pods' sandboxes need a program that waits. */
export const sandboxImage = (): Image => standIn(pauseImage, 'pause.ts');

/** An image that runs one of `programs/`. @param name tells containers apart in containerd's records */
export function standIn(name: string, program: string): Image {
  return {
    name,
    layers: [filesOf(exported.ownImage), programs],
    // the same image under two names would be one of them to containerd
    config: { Entrypoint: [node, `/${program}`], Labels: { name } },
  };
}
