/** Texts of labels, fetched in pages when one is first drawn. */
import { LABELS_PER_PAGE } from '../../timeline/wire.js';
import { askJson } from '../api.js';

export class LabelStore {
  private readonly pages = new Map<number, readonly string[] | null>();

  constructor(
    private readonly path: string,
    private readonly onArrival: () => void,
  ) {}

  /** Undefined until the text has come. */
  text(id: number): string | undefined {
    const page = Math.floor(id / LABELS_PER_PAGE);
    const known = this.pages.get(page);
    if (known === undefined) void this.fetchPage(page);
    return known?.[id % LABELS_PER_PAGE];
  }

  private async fetchPage(page: number): Promise<void> {
    this.pages.set(page, null);
    try {
      this.pages.set(page, await askJson<string[]>(`${this.path}/${page}`));
      this.onArrival();
    } catch {
      // Drawn without names until it is asked for again.
      this.pages.delete(page);
    }
  }
}
