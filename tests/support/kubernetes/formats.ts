/**
 * The forms of names that the API server asks for: apimachinery `pkg/util/validation/validation.go`.
 */

const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const part = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/** `IsDNS1123Label`: containers, volumes. */
export const isDnsLabel = (text: string): boolean => text.length <= 63 && label.test(text);

/** `IsDNS1123Subdomain`: pods. */
export const isDnsSubdomain = (text: string): boolean => text.length <= 253 && subdomain.test(text);

/** `IsQualifiedName`: keys of labels and annotations. */
export function isQualifiedName(text: string): boolean {
  const slash = text.indexOf('/');
  const name = text.slice(slash + 1);
  return (slash < 0 || isDnsSubdomain(text.slice(0, slash))) && name.length <= 63 && part.test(name);
}

/** `IsValidLabelValue`. */
export const isLabelValue = (text: string): boolean => text === '' || (text.length <= 63 && part.test(text));

/** `IsRelaxedEnvVarName`: printable ASCII without the equals sign. */
export const isVariableName = (text: string): boolean => /^[ -<>-~]+$/.test(text);

/** `IsValidUserID` and `IsValidGroupID`: 31 bits. */
export const isUserId = (id: number): boolean => Number.isInteger(id) && id >= 0 && id <= 2 ** 31 - 1;
