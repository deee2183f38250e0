/** What a command prints, in whole lines; bars that rewrite their line count as lines. Very long lines are cut up. */
import { printable } from '../../base/printable.js';

const MOST_CHARACTERS = 16_384;
// biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes are control characters
const COLOUR = /\u001b\[[0-9;?]{0,30}[ -/]{0,3}[@-~]/g;

export class OutputLines {
  private rest = '';

  constructor(private readonly take: (line: string) => void) {}

  push(text: string): void {
    const parts = (this.rest + text).split(/\r\n|[\r\n]/);
    this.rest = parts.pop() ?? '';
    for (const part of parts) if (part !== '') this.take(part);
    if (this.rest.length > MOST_CHARACTERS) this.end();
  }

  end(): void {
    if (this.rest !== '') this.take(this.rest);
    this.rest = '';
  }
}

/** Lines of agent/stepscope_agent/capture.py and agent/_stepscope_start.py after which nothing is recorded. */
const AGENT_REASON =
  /^stepscope: (CUDA is not available.*|the CUDA profiler was not started.*|the agent did not start.*)$/;
export const agentReasonIn = (line: string): string | undefined => AGENT_REASON.exec(line)?.[1];
export const isAgentReason = (text: string): boolean => AGENT_REASON.test(`stepscope: ${text}`);

/** The last lines that say something, for a message: without colours, bars or control characters. */
export class LastLines {
  private readonly lines: string[] = [];
  /** Why our agent did not record, in its own words: later lines must not push it out. */
  private agentReason: string | undefined;

  constructor(private readonly most = 40) {}

  add(line: string): void {
    const plain = printable(line.replace(COLOUR, '').replaceAll('\t', '  ')).trimEnd();
    if (plain.trim() === '') return;
    this.agentReason ??= AGENT_REASON.exec(plain)?.[1];
    this.lines.push(plain.slice(0, 2000));
    if (this.lines.length > this.most) this.lines.shift();
  }

  all(): readonly string[] {
    return this.lines;
  }

  /** One line that says best what went wrong: the agent's own reason, the last that speaks of an error, else the last. */
  reason(): string {
    if (this.agentReason !== undefined) return this.agentReason;
    const meaning = this.lines.filter(
      line => !/\d+%/.test(line) && !/^\s*(Generat|Collecting|\/)/.test(line),
    );
    const wrong = meaning.findLast(line =>
      /error|cannot|fail|denied|no such|not found|illegal|unrecogni/i.test(line),
    );
    return (wrong ?? meaning.at(-1) ?? this.lines.at(-1) ?? '').trim().slice(0, 300);
  }
}
