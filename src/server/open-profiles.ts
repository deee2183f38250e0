/** The profiles this server has: being opened, ready, or failed with the two lines that say why. */
import { breather } from '../import/breathe.js';
import type { ViewedProfile } from '../timeline/viewed-profile.js';
import type { ProfileState } from '../timeline/wire.js';
import { NotesFile } from './notes-file.js';
import type { Told } from './open-viewed.js';
import { asRefusal, Refusal, SenderGone } from './refusal.js';

/** Failures are told, but not for ever. */
const KEPT_FAILURES = 20;

type Entry = { -readonly [Name in keyof ProfileState]: ProfileState[Name] } & {
  view?: ViewedProfile;
  /** When somebody last asked for something of it. */
  lastUse?: number;
  readonly notes: NotesFile;
  readonly openRedacted?: () => Promise<ViewedProfile>;
};

/** What a profile has besides what it shows. */
interface Origin {
  /** The files, as the command line names them: for a command that opens the same. */
  readonly files?: readonly string[];
  /** The file next to which notes are kept. */
  readonly beside?: string;
  /** The same without what nobody else should see. */
  readonly openRedacted?: () => Promise<ViewedProfile>;
}

type ReadProfile = (told: Required<Told>) => Promise<ViewedProfile>;

/** A page asks this often; who has not asked for so long is gone. */
const WATCHED_MS = 2000;
/** A page that has asked for nothing for so long has all it draws first. */
const QUIET_MS = 40;

export class OpenProfiles {
  private readonly entries = new Map<number, Entry>();
  private lastId = 0;
  private askedAt = Number.NEGATIVE_INFINITY;
  private readonly redactedViews = new Map<number, Promise<ViewedProfile>>();

  /** Shows the profile as opening while `read` runs. What that throws is kept for others to see, and thrown again. */
  async open(name: string, read: ReadProfile, origin: Origin = {}): Promise<number> {
    const id = ++this.lastId;
    const { files, beside, openRedacted } = origin;
    const entry: Entry = {
      ...{ id, name, status: 'opening', done: 0 },
      ...(files ? { files } : {}),
      ...(openRedacted ? { canRedact: true, openRedacted } : {}),
      notes: new NotesFile(beside),
    };
    this.entries.set(id, entry);
    try {
      entry.view = await read({
        onProgress: (file, done) => {
          entry.doing = `Reading ${file}`;
          entry.done = Math.min(1, done);
        },
        onPhase: phase => {
          entry.doing = phase;
          entry.done = 0;
        },
      });
      entry.doing = undefined;
      entry.status = 'ready';
      entry.done = 1;
      this.prepareAnswer(entry, entry.view).catch(() => {});
      return id;
    } catch (error) {
      if (error instanceof SenderGone) this.entries.delete(id);
      else {
        entry.status = 'failed';
        entry.doing = undefined;
        const { message, hint } = asRefusal(error);
        entry.error = { message, hint };
        this.forgetOldFailures();
      }
      throw error;
    }
  }

  get(id: number): ViewedProfile {
    const entry = this.entries.get(id);
    if (!entry) throw new Refusal(404, `Profile ${id} does not exist.`, 'Reload the page.');
    if (entry.view) {
      entry.lastUse = performance.now();
      return entry.view;
    }
    if (entry.error) throw new Refusal(409, entry.error.message, entry.error.hint);
    throw new Refusal(409, `${entry.name} is still being opened.`, 'Try again in a few seconds.');
  }

  notes(id: number): NotesFile {
    this.get(id);
    return this.entries.get(id)!.notes;
  }

  /** Opened once; it takes as long as the profile itself did. */
  async redacted(id: number): Promise<ViewedProfile> {
    const { openRedacted } = this.entries.get(id) ?? {};
    if (!openRedacted)
      throw new Refusal(
        409,
        'This profile cannot be redacted here.',
        'Open its file with: stepscope view FILE --redact',
      );
    let made = this.redactedViews.get(id);
    if (!made) {
      made = openRedacted();
      this.redactedViews.set(id, made);
      made.catch(() => this.redactedViews.delete(id));
    }
    return made;
  }

  /** While the page draws what it got, what it asks for next is computed; its first picture comes before that. */
  private async prepareAnswer(entry: Entry, view: ViewedProfile): Promise<void> {
    const isDrawing = () => entry.lastUse !== undefined && performance.now() - entry.lastUse > QUIET_MS;
    while (!isDrawing()) await new Promise(resolve => setTimeout(resolve, QUIET_MS / 2).unref());
    await view.prepareAnswer(breather());
  }

  /** Whether a page is waiting for what is being opened. */
  isWatched(): boolean {
    return performance.now() - this.askedAt < WATCHED_MS;
  }

  states(): ProfileState[] {
    this.askedAt = performance.now();
    return [...this.entries.values()].map(
      ({ view: _, lastUse: __, notes: ___, openRedacted: ____, ...state }) => state,
    );
  }

  private forgetOldFailures(): void {
    const failed = [...this.entries.values()].filter(({ status }) => status === 'failed');
    for (const { id } of failed.slice(0, -KEPT_FAILURES)) this.entries.delete(id);
  }
}
