/** Which files a client may name: those below the folders given at the start, after every link is followed. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { UserError } from '../base/user-error.js';

export class AllowedFolders {
  private readonly roots: readonly string[];

  constructor(folders: readonly string[]) {
    this.roots = folders.map(folder => {
      try {
        return fs.realpathSync(folder);
      } catch {
        throw new UserError('not-found', `${folder} does not exist.`, 'Give folders that exist.');
      }
    });
  }

  /** The path itself, without links. What lies elsewhere and what does not exist are told in the same words. */
  resolve(given: string): string {
    const found = this.realPath(given);
    if (found === undefined || !this.holds(found))
      throw new UserError(
        'not-found',
        `${JSON.stringify(given)} is not a file in the folders of this server.`,
        `Folders: ${this.roots.join(', ')}`,
      );
    // A folder stands for the files in it: none of them may lead out.
    if (fs.statSync(found).isDirectory())
      for (const name of fs.readdirSync(found)) {
        const inner = this.realPath(path.join(found, name));
        if (inner !== undefined && !this.holds(inner))
          throw new UserError(
            'usage',
            `${JSON.stringify(`${given}/${name}`)} leads out of the folders of this server.`,
            'Name the files one by one.',
          );
      }
    return found;
  }

  /** Relative paths are looked for in each folder. */
  private realPath(given: string): string | undefined {
    if (given === '' || given.includes('\0')) return undefined;
    const places = path.isAbsolute(given) ? [given] : this.roots.map(root => path.join(root, given));
    for (const place of places)
      try {
        return fs.realpathSync(place);
      } catch {
        // The next folder may have it.
      }
    return undefined;
  }

  private holds(real: string): boolean {
    return this.roots.some(
      root => real === root || real.startsWith(root.endsWith(path.sep) ? root : root + path.sep),
    );
  }
}
