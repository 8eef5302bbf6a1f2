import type { Report } from '../model.ts';
import type { Progress } from '../progress.ts';
import { patchDocument } from './patched.ts';

/**
 * The input with the patches in it: all documents in their order, those ignored and those that could not be read
 * as well, and nothing changed but what a patch asks for.
 */
export function yamlOutput(report: Report, progress?: Progress): string {
  const byDocument = Map.groupBy(report.reviewed, (one) => one.workload.document);
  const texts: string[] = [];
  for (const [index, document] of report.documents.entries()) {
    progress?.tell(() => `writing ${document.file}:${document.line}`);
    const { text } = patchDocument(document, byDocument.get(document) ?? []);
    // the first document of a file, and JSON values behind one another, have no marker of their own
    if (texts.length > 0 && !document.continues && !/^(?:---|\.\.\.)(?=\s|$)/.test(text)) texts.push('---\n');
    // what the next part of a List goes on behind has no newline of its own
    const open = report.documents[index + 1]?.continues === true && !document.text.endsWith('\n');
    texts.push(open ? text.replace(/\n$/, '') : text);
  }
  return texts.join('');
}
