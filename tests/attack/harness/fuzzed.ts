import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('../../reviews/', import.meta.url);

/** All recorded reviews. Each was sent by a real API server. */
const reviews = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => readFileSync(new URL(name, folder), 'utf8'));

const paths = ['/mutate', '/gate', '/namespaces'];
const MiB = 1024 * 1024;

export interface Fuzzed {
  path: string;
  body: Buffer;
}

/** Returns a generator of numbers from 0 to 1 that repeats for the same seed (mulberry32, in the public domain). */
export function numbersOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

const odd: unknown[] = [
  ...[null, true, 0, -1, 1e308, '', ' ', '..', '\u0000', '\u001b]', '\u202e', 'x'.repeat(300)],
  ...[[], {}, [[]], [null], [{}], { '': '' }, { name: null }, { length: 1e9 }, { toString: 1 }],
];

/** A recorded request with a few random changes. */
export function fuzzed(random: () => number): Fuzzed {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const path = pick(paths);
  const review: unknown = JSON.parse(pick(reviews));
  for (let count = Math.floor(random() * 5); count > 0; count--) change(review, random, pick);
  let text = JSON.stringify(review);
  const size = sizeOf(random());
  if (size > 0) text = grown(text, size, random);
  const body = Buffer.from(text);
  // overwrites random bytes, so that the body is invalid JSON or other JSON
  if (random() < 0.1) {
    for (let count = 1 + random() * 5; count > 0; count--)
      body[Math.floor(random() * body.length)] = Math.floor(random() * 256);
  }
  return { path, body: random() < 0.02 ? body.subarray(0, Math.floor(random() * body.length)) : body };
}

/** Most requests stay small; one in 40 grows up to 64 KiB, one in 1,000 up to 1 MiB, and one in 5,000 up to 8 MiB. */
function sizeOf(chance: number): number {
  if (chance < 0.0002) return Math.floor((chance / 0.0002) * 8 * MiB);
  if (chance < 0.001) return Math.floor((chance / 0.001) * MiB);
  return chance < 0.025 ? Math.floor((chance / 0.025) * 64 * 1024) : 0;
}

/** Replaces, removes or adds a value somewhere in a tree. */
function change(tree: unknown, random: () => number, pick: <T>(from: readonly T[]) => T): void {
  let place = tree as Record<string, unknown>;
  for (let depth = Math.floor(random() * 9); ; depth--) {
    const keys = Object.keys(place);
    const key = keys.length === 0 ? 'x' : pick(keys);
    const value = place[key];
    if (depth > 0 && typeof value === 'object' && value !== null) {
      place = value as Record<string, unknown>;
      continue;
    }
    const chance = random();
    if (chance < 0.2) delete place[key];
    else if (chance < 0.3) place[`${key}${Math.floor(random() * 10)}`] = value;
    else if (chance < 0.4 && Array.isArray(value)) value.push(...value.slice(0, 10));
    else place[key] = structuredClone(pick(odd));
    return;
  }
}

/** Adds about `size` bytes to a text: a long value, many elements, many keys, or many levels. */
function grown(text: string, size: number, random: () => number): string {
  const kind = Math.floor(random() * 6);
  const part = [
    `"${'a'.repeat(Math.max(0, size))}"`,
    `[${'{},'.repeat(size / 3)}{}]`,
    `[${'1,'.repeat(size / 2)}1]`,
    `{${Array.from({ length: size / 12 }, (_, index) => `"k${index.toString(36)}":"v"`).join()}}`,
    `${'['.repeat(Math.min(size, 10_000))}${']'.repeat(Math.min(size, 10_000))}`,
    `[${Array.from({ length: size / 40 }, (_, index) => `{"name":"n${index}","value":null}`).join()}]`,
  ][kind] as string;
  // replaces an empty value, or appends a field if there is none
  const holes = ['{}', 'null', '""', '[]'].filter((hole) => text.includes(`:${hole}`));
  const hole = holes[Math.floor(random() * holes.length)];
  return hole === undefined ? `${text.slice(0, -1)},"more":${part}}` : text.replace(`:${hole}`, `:${part}`);
}
