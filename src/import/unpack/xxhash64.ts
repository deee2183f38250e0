/**
 * XXH64 (Yann Collet's xxHash, seed 0), piece by piece: the checksum that zstd writes behind a frame, of which it keeps
 * the lower 32 bits. Numbers of 64 bits are two halves of 32: BigInt would take longer than unpacking does.
 */

/** The five primes, high and low halves. */
const P1 = [0x9e3779b1, 0x85ebca87] as const;
const P2 = [0xc2b2ae3d, 0x27d4eb4f] as const;
const P3 = [0x165667b1, 0x9e3779f9] as const;
const P4 = [0x85ebca77, 0xc2b2ae63] as const;
const P5 = [0x27d4eb2f, 0x165667c5] as const;

type Half = readonly [high: number, low: number];
const STRIPE_BYTES = 32;

/** One number of 64 bits that is worked on in place. */
class Word {
  high = 0;
  low = 0;

  set(high: number, low: number): this {
    this.high = high >>> 0;
    this.low = low >>> 0;
    return this;
  }

  add(high: number, low: number): this {
    const sum = this.low + (low >>> 0);
    return this.set(this.high + high + (sum > 0xffffffff ? 1 : 0), sum);
  }

  times([high, low]: Half): this {
    const [a0, a1] = [this.low & 0xffff, this.low >>> 16];
    const [b0, b1] = [low & 0xffff, low >>> 16];
    const first = a1 * b0 + ((a0 * b0) >>> 16);
    const second = a0 * b1 + (first & 0xffff);
    const carried = a1 * b1 + (first >>> 16) + (second >>> 16);
    return this.set(
      carried + Math.imul(this.high, low) + Math.imul(this.low, high),
      Math.imul(this.low, low),
    );
  }

  rotate(bits: number): this {
    const [high, low] = bits < 32 ? [this.high, this.low] : [this.low, this.high];
    const by = bits & 31;
    return this.set((high << by) | (low >>> (32 - by)), (low << by) | (high >>> (32 - by)));
  }

  xor(high: number, low: number): this {
    return this.set(this.high ^ high, this.low ^ low);
  }

  xorShifted(bits: number): this {
    return bits < 32
      ? this.xor(this.high >>> bits, (this.low >>> bits) | (this.high << (32 - bits)))
      : this.xor(0, this.high >>> (bits - 32));
  }
}

export class XxHash64 {
  private readonly lanes = [
    new Word().set(...P1).add(...P2),
    new Word().set(...P2),
    new Word(),
    new Word().set(~P1[0], ~P1[1]).add(0, 1),
  ];
  private readonly input = new Word();
  /** Bytes that do not fill a stripe yet. */
  private readonly rest = new Uint8Array(STRIPE_BYTES);
  private kept = 0;
  private length = 0;

  update(bytes: Uint8Array): void {
    this.length += bytes.length;
    let at = 0;
    if (this.kept > 0) {
      at = Math.min(STRIPE_BYTES - this.kept, bytes.length);
      this.rest.set(bytes.subarray(0, at), this.kept);
      this.kept += at;
      if (this.kept < STRIPE_BYTES) return;
      this.stripes(this.rest, 0, STRIPE_BYTES);
      this.kept = 0;
    }
    const whole = at + Math.floor((bytes.length - at) / STRIPE_BYTES) * STRIPE_BYTES;
    this.stripes(bytes, at, whole);
    this.rest.set(bytes.subarray(whole));
    this.kept = bytes.length - whole;
  }

  private stripes(bytes: Uint8Array, from: number, to: number): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = from; at < to; at += STRIPE_BYTES)
      for (let lane = 0; lane < 4; lane++) this.round(this.lanes[lane], view, at + 8 * lane);
  }

  private round(lane: Word, view: DataView, at: number): void {
    this.input.set(view.getUint32(at + 4, true), view.getUint32(at, true)).times(P2);
    lane.add(this.input.high, this.input.low).rotate(31).times(P1);
  }

  /** Of all that was given. */
  digest(): { readonly high: number; readonly low: number } {
    const hash = new Word();
    if (this.length < STRIPE_BYTES) hash.set(...P5);
    else {
      [1, 7, 12, 18].forEach((bits, i) => {
        const lane = new Word().set(this.lanes[i].high, this.lanes[i].low).rotate(bits);
        hash.add(lane.high, lane.low);
      });
      for (const { high, low } of this.lanes) {
        const lane = new Word().set(high, low).times(P2).rotate(31).times(P1);
        hash
          .xor(lane.high, lane.low)
          .times(P1)
          .add(...P4);
      }
    }
    hash.add(Math.floor(this.length / 2 ** 32), this.length >>> 0);
    this.finish(hash);
    return { high: hash.high, low: hash.low };
  }

  private finish(hash: Word): void {
    const view = new DataView(this.rest.buffer);
    let at = 0;
    for (; at + 8 <= this.kept; at += 8) {
      const lane = new Word();
      this.round(lane, view, at);
      hash
        .xor(lane.high, lane.low)
        .rotate(27)
        .times(P1)
        .add(...P4);
    }
    if (at + 4 <= this.kept) {
      const four = new Word().set(0, view.getUint32(at, true)).times(P1);
      hash
        .xor(four.high, four.low)
        .rotate(23)
        .times(P2)
        .add(...P3);
      at += 4;
    }
    for (; at < this.kept; at++) {
      const one = new Word().set(0, this.rest[at]).times(P5);
      hash.xor(one.high, one.low).rotate(11).times(P1);
    }
    hash.xorShifted(33).times(P2).xorShifted(29).times(P3).xorShifted(32);
  }
}
