/** The profiles this server has: being opened, ready, or failed with the two lines that say why. */
import type { ViewedProfile } from '../timeline/viewed-profile.js';
import type { ProfileState } from '../timeline/wire.js';
import { asRefusal, Refusal, SenderGone } from './refusal.js';

/** Failures are told, but not for ever. */
const KEPT_FAILURES = 20;

type Entry = { -readonly [Name in keyof ProfileState]: ProfileState[Name] } & { view?: ViewedProfile };

type ReadProfile = (onProgress: (done: number) => void) => Promise<ViewedProfile>;

export class OpenProfiles {
  private readonly entries = new Map<number, Entry>();
  private lastId = 0;

  /** Shows the profile as opening while `read` runs. What that throws is kept for others to see, and thrown again. */
  async open(name: string, read: ReadProfile): Promise<number> {
    const id = ++this.lastId;
    const entry: Entry = { id, name, status: 'opening', done: 0 };
    this.entries.set(id, entry);
    try {
      entry.view = await read(done => {
        entry.done = Math.min(1, Math.max(entry.done, done));
      });
      entry.status = 'ready';
      entry.done = 1;
      return id;
    } catch (error) {
      if (error instanceof SenderGone) this.entries.delete(id);
      else {
        entry.status = 'failed';
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
    if (entry.view) return entry.view;
    if (entry.error) throw new Refusal(409, entry.error.message, entry.error.hint);
    throw new Refusal(409, `${entry.name} is still being opened.`, 'Try again in a few seconds.');
  }

  states(): ProfileState[] {
    return [...this.entries.values()].map(({ view: _, ...state }) => state);
  }

  private forgetOldFailures(): void {
    const failed = [...this.entries.values()].filter(({ status }) => status === 'failed');
    for (const { id } of failed.slice(0, -KEPT_FAILURES)) this.entries.delete(id);
  }
}
