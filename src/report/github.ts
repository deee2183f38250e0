/**
 * Workflow commands of GitHub Actions: lines on standard output that become annotations.
 * https://docs.github.com/actions/reference/workflow-commands-for-github-actions; escaping as in actions/toolkit
 * (packages/core/src/command.ts).
 */
interface Annotation {
  readonly level: 'error' | 'warning' | 'notice';
  readonly title: string;
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
}

export function renderAnnotations(annotations: readonly Annotation[]): string {
  return annotations
    .map(({ level, title, message, file, line }) => {
      const properties = [
        ...(file === undefined ? [] : [`file=${escapeProperty(file)}`]),
        ...(line === undefined ? [] : [`line=${line}`]),
        `title=${escapeProperty(title)}`,
      ];
      return `::${level} ${properties.join(',')}::${escapeData(message)}\n`;
    })
    .join('');
}

const escapeData = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

const escapeProperty = (text: string): string =>
  escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
