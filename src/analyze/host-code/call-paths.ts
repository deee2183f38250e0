/** Call paths by name: one node per distinct way from the outermost caller down, whichever thread and step took it. */
import { NONE } from '../../base/column.js';
import type { HostName } from '../../catalog/host-names.js';

/** The node above all others. */
export const ROOT = 0;

/** A power of two. */
const RECENT = 1024;

export class CallPaths {
  /** By node. The root has no name. */
  readonly names: (HostName | undefined)[] = [undefined];
  readonly parents: number[] = [-1];
  private readonly nameIds = new Map<string, number>();
  /** The same by name: many are asked for a million times. */
  private readonly known = new WeakMap<HostName, number>();
  /** By node: the nodes below it, by the number of their name. */
  private readonly below: (Map<number, number> | undefined)[] = [undefined];
  /** The children asked for last, by a hash of parent and name: both, and the node. */
  private readonly recent = new Int32Array(3 * RECENT).fill(NONE);

  /** The same paths once more, from their names and parents. */
  static of({ names, parents }: Pick<CallPaths, 'names' | 'parents'>): CallPaths {
    const paths = new CallPaths();
    for (let node = 1; node < parents.length; node++) paths.child(parents[node], names[node]!);
    return paths;
  }

  get size(): number {
    return this.parents.length;
  }

  /** A number for the name: equal names have equal numbers. */
  idOf(name: HostName): number {
    let id = this.known.get(name);
    if (id !== undefined) return id;
    const key = `${name.kind}/${name.text}`;
    id = this.nameIds.get(key);
    if (id === undefined) this.nameIds.set(key, (id = this.nameIds.size));
    this.known.set(name, id);
    return id;
  }

  /** The node below another one. `id` is that of the name. */
  child(parent: number, name: HostName, id = this.idOf(name)): number {
    const at = 3 * ((parent * 31 + id) & (RECENT - 1));
    if (this.recent[at] === parent && this.recent[at + 1] === id) return this.recent[at + 2];
    const node = this.findChild(parent, name, id);
    this.recent[at] = parent;
    this.recent[at + 1] = id;
    this.recent[at + 2] = node;
    return node;
  }

  private findChild(parent: number, name: HostName, id: number): number {
    const own = (this.below[parent] ??= new Map());
    let node = own.get(id);
    if (node === undefined) {
      node = this.parents.length;
      own.set(id, node);
      this.parents.push(parent);
      this.below.push(undefined);
      this.names.push(name);
    }
    return node;
  }

  /** Nodes from the outermost down to this one. */
  pathOf(node: number): number[] {
    const path: number[] = [];
    for (let at = node; at > ROOT; at = this.parents[at]) path.push(at);
    return path.reverse();
  }

  /** The way to a node, once more below another one; from a node on the way, where one is given. */
  grafted(node: number, place: number, from = ROOT): number {
    const path = this.pathOf(node);
    return path.slice(path.indexOf(from) + 1).reduce((at, part) => this.child(at, this.names[part]!), place);
  }

  /** Innermost class of a module on the way to the node. */
  moduleOf(node: number): string | undefined {
    for (let at = node; at > ROOT; at = this.parents[at])
      if (this.names[at]!.module !== undefined) return this.names[at]!.module;
    return undefined;
  }
}
