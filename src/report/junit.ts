/** Test results as JUnit XML, the dialect GitLab, Jenkins and GitHub's actions read. Every text is escaped. */
interface JunitCase {
  readonly group: string;
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'error' | 'skipped';
  readonly message: string;
}

export function renderJunit(suite: string, cases: readonly JunitCase[]): string {
  const count = (outcome: JunitCase['outcome']) => cases.filter(one => one.outcome === outcome).length;
  const totals = `tests="${cases.length}" failures="${count('failed')}" errors="${count('error')}" skipped="${count('skipped')}"`;
  const lines = cases.map(({ group, name, outcome, message }) => {
    const head = `    <testcase classname="${escapeXml(`${suite}.${group}`)}" name="${escapeXml(name)}" time="0"`;
    const text = escapeXml(message);
    if (outcome === 'failed')
      return `${head}>\n      <failure message="${text}">${text}</failure>\n    </testcase>`;
    if (outcome === 'error')
      return `${head}>\n      <error message="${text}">${text}</error>\n    </testcase>`;
    if (outcome === 'skipped') return `${head}>\n      <skipped message="${text}"/>\n    </testcase>`;
    return `${head}>\n      <system-out>${text}</system-out>\n    </testcase>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${escapeXml(suite)}" ${totals}>\n  <testsuite name="${escapeXml(suite)}" ${totals}>\n${lines.join('\n')}\n  </testsuite>\n</testsuites>\n`;
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** For content and attributes. Characters that XML 1.0 cannot hold, even as entities, become a dot. */
function escapeXml(text: string): string {
  return [...text]
    .map(char => {
      const code = char.codePointAt(0)!;
      const isAllowed =
        code === 0x9 ||
        code === 0xa ||
        code === 0xd ||
        (code >= 0x20 && code <= 0xd7ff) ||
        (code >= 0xe000 && code <= 0xfffd) ||
        code >= 0x10000;
      if (!isAllowed) return '·';
      // In attributes a line break would be read as a space.
      if (code < 0x20) return `&#${code};`;
      return entities[char] ?? char;
    })
    .join('');
}
