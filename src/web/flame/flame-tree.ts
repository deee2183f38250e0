/** The trees a flame graph shows, each from the columns of the document: callers on top, inverted, around one function. */
import type { FlameDocument } from '../../analyze/host-code/flame-document.js';
import type { HostWeight } from '../../analyze/host-code/host-profile.js';

export interface FlameNode {
  /** Index into the document's names; -1: the root. */
  readonly name: number;
  readonly parent: FlameNode | null;
  /** In an inverted tree, time that no further caller is known of. */
  selfNs: number;
  totalNs: number;
  calls: number;
  /** Largest first. */
  readonly children: FlameNode[];
  /** Of nodes with many children, while a tree is built. */
  byName?: Map<number, FlameNode> | undefined;
}

const newNode = (name: number, parent: FlameNode | null): FlameNode => ({
  name,
  parent,
  selfNs: 0,
  totalNs: 0,
  calls: 0,
  children: [],
  byName: undefined,
});

export function topDownTree(document: FlameDocument, weight: HostWeight): FlameNode {
  const { selfNs, calls } = document.weights[weight];
  const nodes: FlameNode[] = [];
  document.parent.forEach((above, i) => {
    const node = newNode(document.name[i], nodes[above] ?? null);
    node.selfNs = selfNs[i];
    node.totalNs = selfNs[i];
    node.calls = calls[i];
    nodes.push(node);
  });
  for (let i = nodes.length - 1; i > 0; i--) {
    const node = nodes[i];
    if (!(node.totalNs > 0)) continue;
    node.parent!.totalNs += node.totalNs;
    node.parent!.children.push(node);
  }
  return sorted(nodes[0]);
}

/** What takes the time on top, its callers below. */
export function callersTree(root: FlameNode): FlameNode {
  const inverted = newNode(-1, null);
  visit(root, node => {
    if (node.selfNs > 0) addCallers(inverted, node, node.selfNs);
  });
  return sorted(inverted);
}

export interface Sandwich {
  /** Both have the function as their root, and the same total. */
  readonly callers: FlameNode;
  readonly callees: FlameNode;
}

/** One function wherever it is called; of recursive calls the outermost, so that no time counts twice. */
export function sandwichOf(root: FlameNode, name: number): Sandwich {
  const callers = newNode(name, null);
  const callees = newNode(name, null);
  const merge = (into: FlameNode, from: FlameNode): void => {
    into.selfNs += from.selfNs;
    into.totalNs += from.totalNs;
    into.calls += from.calls;
    for (const child of from.children) merge(childOf(into, child.name), child);
  };
  const find = (node: FlameNode): void => {
    if (node.name !== name) node.children.forEach(find);
    else {
      merge(callees, node);
      addCallers(callers, node.parent!, node.totalNs, node.calls);
    }
  };
  find(root);
  return { callers: sorted(callers), callees: sorted(callees) };
}

export interface NameTimes {
  selfNs: number;
  /** Of recursive calls the outermost. */
  totalNs: number;
}

/** Each function wherever it is called; most time of its own first. */
export function timesByName(root: FlameNode): ReadonlyMap<number, NameTimes> {
  const times = new Map<number, NameTimes>();
  const inside = new Set<number>();
  const add = (node: FlameNode): void => {
    const { name, selfNs, totalNs, children } = node;
    let own = times.get(name);
    if (!own) times.set(name, (own = { selfNs: 0, totalNs: 0 }));
    own.selfNs += selfNs;
    const isOutermost = !inside.has(name);
    if (isOutermost) own.totalNs += totalNs;
    inside.add(name);
    children.forEach(add);
    if (isOutermost) inside.delete(name);
  };
  root.children.forEach(add);
  return new Map([...times].sort((a, b) => b[1].selfNs - a[1].selfNs));
}

/** The node on the same way from the root in another tree, or as far as that way exists. */
export function nodeAlong(root: FlameNode, way: readonly number[]): FlameNode {
  let at = root;
  for (const name of way) {
    const next = at.children.find(child => child.name === name);
    if (!next) break;
    at = next;
  }
  return at;
}

/** Adds time at the root and along the callers, the nearest first. */
function addCallers(root: FlameNode, from: FlameNode, ns: number, calls = from.calls): void {
  let at = root;
  at.totalNs += ns;
  at.calls += calls;
  for (let caller: FlameNode = from; caller.parent; caller = caller.parent) {
    at = childOf(at, caller.name);
    at.totalNs += ns;
    at.calls += calls;
  }
  at.selfNs += ns;
}

/** An inverted tree has a child of its root for every function; most nodes have one or two. */
const FEW = 12;

function childOf(node: FlameNode, name: number): FlameNode {
  const known = node.byName ? node.byName.get(name) : node.children.find(child => child.name === name);
  if (known) return known;
  const child = newNode(name, node);
  node.children.push(child);
  if (node.byName) node.byName.set(name, child);
  else if (node.children.length > FEW) node.byName = new Map(node.children.map(own => [own.name, own]));
  return child;
}

export function visit(node: FlameNode, see: (node: FlameNode) => void): void {
  see(node);
  for (const child of node.children) visit(child, see);
}

function sorted(root: FlameNode): FlameNode {
  visit(root, ({ children }) => children.sort((a, b) => b.totalNs - a.totalNs || a.name - b.name));
  if (root.name < 0) root.calls = root.children.reduce((sum, { calls }) => sum + calls, 0);
  return root;
}
