import * as models from '@kubernetes/client-node/dist/gen/models/all.js';

/** One field as the generator of the official client describes it, from the API server's own OpenAPI document. */
interface Attribute {
  baseName: string;
  type: string;
  format: string;
}

interface Model {
  getAttributeTypeMap(): Attribute[];
}

const modelOf = (type: string): Model | undefined => (models as unknown as Record<string, Model>)[type];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * What in a value is not as the Kubernetes types have it: fields that do not exist, and JSON of another type.
 * `null` stands for absent in every place, as the API server's decoder takes it.
 *
 * @param type a class of the generated client, such as `V1Pod`
 * @param path what to call the value in the texts
 */
export function typeFaults(type: string, value: unknown, path: string): string[] {
  if (value === null || value === undefined) return [];
  const element = /^Array<(.+)>$/.exec(type)?.[1];
  if (element !== undefined) {
    if (!Array.isArray(value)) return [`${path}: should be a list`];
    return value.flatMap((item: unknown, index) =>
      typeFaults(element, item, `${path}[${nameOf(item) ?? index}]`),
    );
  }
  const model = modelOf(type);
  if (model === undefined) return isPlain(type, value, path) ? [] : [`${path}: should be ${type}`];
  if (!isObject(value)) return [`${path}: should be an object`];
  const attributes = new Map(model.getAttributeTypeMap().map((one) => [one.baseName, one]));
  return Object.entries(value).flatMap(([key, item]) => {
    const attribute = attributes.get(key);
    return attribute === undefined
      ? [`${path}.${key}: no such field`]
      : typeFaults(plainType(attribute), item, `${path}.${key}`);
  });
}

/** Elements are called by their names: an injection moves them, and a fault must keep its text. */
const nameOf = (item: unknown): string | undefined =>
  isObject(item) && typeof item.name === 'string' ? item.name : undefined;

const plainType = ({ type, format }: Attribute): string =>
  type === 'number' && /^int(32|64)$/.test(format) ? 'integer' : type;

function isPlain(type: string, value: unknown, path: string): boolean {
  switch (type) {
    case 'any':
      return true;
    case 'integer':
      return Number.isInteger(value);
    case 'IntOrString':
      return typeof value === 'string' || Number.isInteger(value);
    case 'Date':
      return typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value));
    case '{ [key: string]: string; }':
      return isObject(value) && Object.values(value).every((item) => isMapValue(item, path));
    default:
      // the generator's words for primitives are those of typeof
      return typeof value === type;
  }
}

/** A quantity may be a JSON number as well (apimachinery `pkg/api/resource`, `Quantity.UnmarshalJSON`). */
const isMapValue = (item: unknown, path: string): boolean =>
  typeof item === 'string' ||
  item === null ||
  (typeof item === 'number' && /\.(requests|limits|overhead)$/.test(path));
