/** Events given as a beginning (ph B) and an end (ph E): a stack for each place, as they nest. */
export interface BegunEvent {
  readonly start: number;
  readonly category: number;
  /** String id. */
  readonly name: number;
  readonly numbers: Float64Array;
}

export class OpenEvents {
  private readonly stacks = new Map<number, BegunEvent[]>();

  begin(lane: number, begun: BegunEvent): void {
    const stack = this.stacks.get(lane);
    if (stack) stack.push(begun);
    else this.stacks.set(lane, [begun]);
  }

  end(lane: number): BegunEvent | undefined {
    return this.stacks.get(lane)?.pop();
  }

  *remaining(): Iterable<{ lane: number; begun: BegunEvent }> {
    for (const [lane, stack] of this.stacks) for (const begun of stack) yield { lane, begun };
  }
}
