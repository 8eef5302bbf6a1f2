import type { Condition, Matcher, Profile } from '../profiles/types.ts';
import { allOf, anyOf, type Cel, text, textList } from './cel.ts';

/*
 * The CEL counterpart of proof/selection.ts: which profiles apply to a pod. `variables.containers` has all containers
 * of the pod, init containers first.
 */

/** Whether a profile applies. */
export const appliesCel = ({ when }: Profile): Cel => anyOf([when].flat().map(holds));

function holds(condition: Condition): Cel {
  const { container, noContainer, labels, annotations, namespaceLabels } = condition;
  return allOf([
    ...(container === undefined ? [] : [`variables.containers.exists(c, ${runs(container, condition)})`]),
    ...(noContainer === undefined ? [] : [`!variables.containers.exists(c, c.name == ${text(noContainer)})`]),
    ...matchAll('object.metadata.?labels', labels),
    ...matchAll('object.metadata.?annotations', annotations),
    ...matchAll('namespaceObject.metadata.?labels', namespaceLabels),
  ]);
}

const matchAll = (values: Cel, matchers: Record<string, Matcher> = {}): Cel[] =>
  Object.entries(matchers).map(([key, matcher]) => matches(`${values}[?${text(key)}]`, matcher));

/** @param value an optional string */
function matches(value: Cel, matcher: Matcher): Cel {
  const isIn = (among: string[]): Cel => `(${value}.hasValue() && ${value}.value() in ${textList(among)})`;
  if (typeof matcher === 'string') return `${value} == optional.of(${text(matcher)})`;
  const { in: values, notIn, exists } = matcher;
  return allOf([
    ...(exists === undefined ? [] : [`${exists ? '' : '!'}${value}.hasValue()`]),
    ...(values === undefined ? [] : [isIn(values)]),
    ...(notIn === undefined ? [] : [`!${isIn(notIn)}`]),
  ]);
}

/** Whether `c` is the container of the condition, with the condition's arguments and environment variables. */
const runs = (name: string, { args = [], env = {} }: Condition): Cel =>
  allOf([
    `c.name == ${text(name)}`,
    ...args.map((argument, at) => `c.?args[?${at}] == optional.of(${text(argument)})`),
    ...Object.entries(env).map(
      ([variable, matcher]) => `[${variableOf('c', variable)}].exists(value, ${matches('value', matcher)})`,
    ),
  ]);

/** A container's environment variable, as an optional string. If the name occurs twice, the last value counts. */
export const variableOf = (container: Cel, name: string): Cel =>
  `[${container}.?env.orValue([]).filter(e, e.name == ${text(name)})].map(found, ` +
  'size(found) == 0 ? optional.none() : found[size(found) - 1].?value)[0]';
