/** The result of a check for machines that run it: test cases for JUnit, annotations for GitHub. */
import { type CheckResult, exitCodeOf, type LimitResult } from './check.js';
import { limitName, limitSentence, verdictSentence } from './describe-check.js';

interface CheckCase {
  readonly group: string;
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'error' | 'skipped';
  readonly message: string;
}

/** A limit that only warns never fails a case: what CI shows must agree with the exit code. */
function outcomeOf({ verdict, limit }: LimitResult): CheckCase['outcome'] {
  if (verdict === 'pass' || verdict === 'warning') return 'passed';
  if (verdict === 'regression') return 'failed';
  if (verdict === 'not-recorded') return limit.severity === 'fail' ? 'failed' : 'skipped';
  return 'skipped';
}

export function checkCases(result: CheckResult): CheckCase[] {
  const cases = result.limits.map(
    (one): CheckCase => ({
      group: one.scope ?? 'run',
      name: `${limitName(one)} ${one.limit.kind} ${one.limit.written}`,
      outcome: outcomeOf(one),
      message: `${one.verdict}: ${limitSentence(one)}`,
    }),
  );
  if (result.differences.length === 0) return cases;
  const reasons = result.differences.map(({ text, allowed }) => (allowed ? `${text} (allowed)` : text));
  const isError = result.differences.some(({ allowed }) => !allowed);
  return [
    {
      group: 'baseline',
      name: 'comparable with the baseline',
      outcome: isError ? 'error' : 'passed',
      message: reasons.join('; '),
    },
    ...cases,
  ];
}

interface CheckAnnotation {
  readonly level: 'error' | 'warning' | 'notice';
  readonly title: string;
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
}

/** `policyFile`: its path as the repository knows it, so that GitHub can show the line of the limit. */
export function checkAnnotations(result: CheckResult, policyFile: string): CheckAnnotation[] {
  const found: CheckAnnotation[] = [];
  if (result.differences.some(({ allowed }) => !allowed))
    found.push({
      level: 'error',
      title: 'Not comparable',
      message: verdictSentence({ ...result, verdict: 'not-comparable' }),
    });
  for (const one of result.limits) {
    const { verdict, limit } = one;
    if (verdict === 'pass' || verdict === 'skipped' || verdict === 'not-comparable') continue;
    const fails = verdict === 'regression' || (verdict === 'not-recorded' && limit.severity === 'fail');
    found.push({
      level: fails ? 'error' : verdict === 'not-measurable' ? 'notice' : 'warning',
      title: `Stepscope: ${limitName(one)}`,
      message: `${limitSentence(one)}: ${verdict}`,
      file: policyFile,
      line: limit.line,
    });
  }
  if (exitCodeOf[result.verdict] === 0) {
    found.push({ level: 'notice', title: 'Stepscope', message: verdictSentence(result) });
  }
  return found;
}
