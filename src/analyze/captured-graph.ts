/** What a trace of graph captures says about one graph: plain data, so that it can be handed to analyses of another file. */

/** What is called: an operator with these inputs. Texts, empty where not recorded. */
export interface OperatorKind {
  readonly name: string;
  readonly shapes: string;
  readonly types: string;
}

export interface CapturedCall {
  readonly kind: OperatorKind;
  readonly module: string;
  /** Index of the call that made it, before it in the list, or NONE. */
  readonly parent: number;
}

export interface CapturedGraph {
  /** The batch size it was captured for, where a range says so. */
  readonly batch?: number;
  readonly calls: readonly CapturedCall[];
  /** Per node: its WorkKind, and the call that added it, or NONE. */
  readonly nodeKind: readonly number[];
  readonly nodeCall: readonly number[];
}
