import { compose, ownImage } from '../docker.ts';
import { baseImages } from '../dockerfile.ts';

/** Images by the services of docker-compose.yml. */
export async function serviceImages(): Promise<string[]> {
  const { services }: { services: Record<string, { image: string }> } = JSON.parse(
    await compose('config', '--format', 'json'),
  );
  return Object.values(services).map(({ image }) => image);
}

/** What a registry would be asked for: each image that the Dockerfile and docker-compose.yml name. */
export async function namedImages(): Promise<string[]> {
  const images = new Set([...baseImages(), ...(await serviceImages())]);
  images.delete(ownImage);
  return [...images];
}
