/** What an engine adds to a plan: its variables, its switches, how its capture range is opened and closed. */
import type {
  CaptureOptions,
  CapturePlan,
  LoadShape,
  PlanCalibration,
  PlanFacts,
  PlanFile,
  PlanOutput,
  PlanReason,
  PlanStep,
  PlanWarning,
  WindowGoal,
} from './capture-plan.js';
import type { Launch } from './launchers.js';
import type { Program } from './read-command.js';

export interface EngineQuestion {
  readonly options: CaptureOptions;
  readonly facts: PlanFacts;
  readonly program: Program;
  readonly launch: Launch;
  /** Where its server is reached, without a slash at the end. */
  readonly url: string;
}

export interface EnginePart {
  /** Does it call cudaProfilerStart and cudaProfilerStop round what was asked for? */
  readonly opensRange: boolean;
  /** Ranges it will open; absent when only the user knows. */
  readonly ranges?: number;
  /** Can a window be opened while the program runs, when something holds? */
  readonly byRequest: boolean;
  readonly files: readonly PlanFile[];
  readonly env: Readonly<Record<string, string>>;
  /** Variables that end a program whose Python lacks a module. */
  readonly optionalEnv: NonNullable<CapturePlan['optionalEnv']>;
  /** Appended to the program's own arguments. */
  readonly args: readonly string[];
  /** Its own PyTorch profiler runs instead of nsys: the two cannot share one window there. */
  readonly torchInstead: boolean;
  readonly outputs: readonly PlanOutput[];
  /** Between "the server answers" and "the reports are written". */
  readonly steps: readonly PlanStep[];
  readonly why: readonly PlanReason[];
  readonly warnings: readonly PlanWarning[];
  /** What a second run without a profiler is given, where somebody notes the times of its steps. */
  readonly calibration?: Pick<PlanCalibration, 'env' | 'outputs'>;
}

export class PartBuilder {
  readonly env: Record<string, string> = {};
  readonly optionalEnv: EnginePart['optionalEnv'][number][] = [];
  readonly args: string[] = [];
  readonly outputs: PlanOutput[] = [];
  readonly steps: PlanStep[] = [];
  readonly why: PlanReason[] = [];
  readonly warnings: PlanWarning[] = [];
  readonly files: PlanFile[] = [];
  opensRange = false;
  byRequest = false;
  ranges: number | undefined;
  torchInstead = false;
  calibration: EnginePart['calibration'];

  variable(name: string, value: string, why: string): void {
    this.env[name] = value;
    this.why.push({ what: `${name}=${value}`, why });
  }

  /** `has`: whether the module is there; unknown is not enough, because the program would end. */
  variableWith(module: string, has: boolean | undefined, [name, value]: [string, string], why: string): void {
    if (has) {
      this.variable(name, value, why);
      return;
    }
    if (has === undefined) this.optionalEnv.push({ name, value, module });
    this.warn(
      'warning',
      `no-${module}`,
      `${name}=${value} is left out: the engine does not start with it if the Python package ${module} is missing${has === false ? ', and it is' : '; this could not be checked'}.`,
      `In the environment of the engine: pip install ${module}. It adds ${why} Steps are also marked with --agent.`,
    );
  }

  argument(words: readonly string[], why: string): void {
    this.args.push(...words);
    this.why.push({ what: words.join(' '), why });
  }

  warn(severity: PlanWarning['severity'], code: string, text: string, fix: string): void {
    this.warnings.push({ code, severity, text, fix });
  }

  post(url: string, why: string, body?: Readonly<Record<string, unknown>>): void {
    this.steps.push({ do: 'http', method: 'POST', url, ...(body ? { body } : {}), why });
  }

  /** Requests until this holds; what is sent goes on until the next such step. */
  load(until: WindowGoal, shape: LoadShape, why: string): void {
    this.steps.push({ do: 'load', why, until, shape });
  }

  done(): EnginePart {
    const { opensRange, byRequest, torchInstead, files } = this;
    const { env, optionalEnv, args, outputs, steps, why, warnings } = this;
    return {
      opensRange,
      byRequest,
      files,
      ...(this.ranges === undefined ? {} : { ranges: this.ranges }),
      torchInstead,
      env,
      optionalEnv,
      args,
      outputs,
      steps,
      why,
      warnings,
      ...(this.calibration ? { calibration: this.calibration } : {}),
    };
  }
}
