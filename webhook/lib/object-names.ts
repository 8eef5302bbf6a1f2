import { nameCharacters } from './limits.ts';

/** Letters, digits and hyphens, with a letter or digit at both ends. The pattern needs no backtracking. */
const label = /^[a-z0-9]+(?:-+[a-z0-9]+)*$/;
const subdomain = /^[a-z0-9]+(?:(?:-+|\.)[a-z0-9]+)*$/;
const uid = /^[A-Za-z0-9][-A-Za-z0-9._:]*$/;

/** Whether a text is the name of a namespace: an RFC 1123 label. Source: apimachinery, `NameIsDNSLabel`. */
export const isNamespaceName = (text: string): boolean => text.length <= 63 && label.test(text);

/** Whether a text is the name of a pod or node: an RFC 1123 subdomain. Source: apimachinery, `NameIsDNSSubdomain`. */
export const isObjectName = (text: string): boolean => text.length <= nameCharacters && subdomain.test(text);

/** Whether a text can be a UID. The API server generates UUIDs, but tests and direct callers may use other texts. */
export const isUid = (text: string): boolean => text.length <= nameCharacters && uid.test(text);
