import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { run } from '../../support/run.ts';

export interface Image {
  name: string;
  /** Folders, each of which becomes a layer. A folder that several images share is written once. */
  layers: string[];
  /** `config` of the image configuration (OCI image specification): user, entrypoint, labels. */
  config: object;
}

interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
}

const type = 'application/vnd.oci.image';
const architectures: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64', arm64: 'arm64' };

/** Writes images as an OCI image layout into a folder, for `ctr images import`. */
export async function writeImages(folder: string, images: Image[]): Promise<void> {
  const blobs = join(folder, 'blobs/sha256');
  await mkdir(blobs, { recursive: true });
  const layers = new Map<string, Descriptor>();
  for (const path of new Set(images.flatMap((image) => image.layers))) {
    layers.set(path, await writeLayer(blobs, path));
  }
  const manifests: object[] = [];
  for (const image of images) {
    const own = image.layers.flatMap((path) => layers.get(path) ?? []);
    const config = await writeJson(blobs, 'config.v1', {
      architecture: architectures[process.arch] ?? process.arch,
      os: 'linux',
      rootfs: { type: 'layers', diff_ids: own.map(({ digest }) => digest) },
      config: image.config,
    });
    const manifest = { schemaVersion: 2, mediaType: `${type}.manifest.v1+json`, config, layers: own };
    const written = await writeJson(blobs, 'manifest.v1', manifest);
    // containerd's annotation for the name of an imported image
    manifests.push({ ...written, annotations: { 'io.containerd.image.name': image.name } });
  }
  await writeFile(join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  await writeFile(join(folder, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests }));
}

async function writeLayer(blobs: string, path: string): Promise<Descriptor> {
  const unnamed = join(blobs, 'layer');
  // files belong to root, because the owner of the checkout does not exist in the image
  await run('tar', ['--owner=0', '--group=0', '--numeric-owner', '-C', path, '-cf', unnamed, '.']);
  const sum = createHash('sha256');
  await pipeline(createReadStream(unnamed), sum);
  const digest = sum.digest('hex');
  await rename(unnamed, join(blobs, digest));
  const { size } = await stat(join(blobs, digest));
  return { mediaType: `${type}.layer.v1.tar`, digest: `sha256:${digest}`, size };
}

async function writeJson(blobs: string, kind: string, value: object): Promise<Descriptor> {
  const text = JSON.stringify(value);
  const digest = createHash('sha256').update(text).digest('hex');
  await writeFile(join(blobs, digest), text);
  return { mediaType: `${type}.${kind}+json`, digest: `sha256:${digest}`, size: Buffer.byteLength(text) };
}
