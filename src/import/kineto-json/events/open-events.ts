/** Events given as a beginning (ph B) and an end (ph E): a stack for each place, as they nest. */
interface BegunEvent {
  readonly start: number;
  readonly category: number;
  /** String id. */
  readonly name: number;
  readonly numbers: Float64Array;
}

export class OpenEvents {
  private readonly stacks = new Map<number, BegunEvent[]>();
  /** How many have begun and not ended. */
  count = 0;

  begin(lane: number, begun: BegunEvent): void {
    this.count++;
    const stack = this.stacks.get(lane);
    if (stack) stack.push(begun);
    else this.stacks.set(lane, [begun]);
  }

  end(lane: number): BegunEvent | undefined {
    const begun = this.stacks.get(lane)?.pop();
    if (begun) this.count--;
    return begun;
  }

  *remaining(): Iterable<{ lane: number; begun: BegunEvent }> {
    for (const [lane, stack] of this.stacks) for (const begun of stack) yield { lane, begun };
  }
}
