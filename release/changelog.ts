/**
 * The section of a version in CHANGELOG.md, without its heading.
 *
 * @param version such as `0.2.0`
 * @throws Error if the changelog has no such section
 */
export function changelogSection(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const found = sections.find((section) => section.split(/\s/, 1)[0] === version);
  if (found === undefined) {
    throw new Error(
      `CHANGELOG.md has no section "## ${version}", only: ${sections.map((section) => section.split('\n', 1)[0]).join(', ')}. ` +
        'Rename the section Unreleased before you tag a release.',
    );
  }
  return `${found.slice(found.indexOf('\n')).trim()}\n`;
}
