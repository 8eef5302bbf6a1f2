import type { Report } from '../model.ts';
import type { Progress } from '../progress.ts';
import { patchedText } from './patched.ts';

/**
 * The YAML output: the input with the patches applied. It has all documents in their order, including ignored and
 * unreadable ones, and nothing else is changed.
 */
export function yamlOutput(report: Report, progress?: Progress): string {
  const byDocument = Map.groupBy(report.reviewed, (one) => one.workload.document);
  const texts: string[] = [];
  for (const [index, document] of report.documents.entries()) {
    progress?.tell(() => `writing ${document.file}:${document.line}`);
    const text = patchedText(document, byDocument.get(document) ?? []);
    // the first document of a file and consecutive JSON values have no marker
    if (texts.length > 0 && !document.continues && !/^(?:---|\.\.\.)(?=\s|$)/.test(text)) texts.push('---\n');
    // a part that the next part of a List continues has no newline
    const open = report.documents[index + 1]?.continues === true && !document.text.endsWith('\n');
    texts.push(open ? text.replace(/\n$/, '') : text);
  }
  return texts.join('');
}
