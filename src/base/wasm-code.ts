/** A WebAssembly program that scripts/build-wasm.mjs wrote as text, compiled when it is first started. */

/** What we use of WebAssembly, whose types come with those of browsers. */
interface Wasm {
  readonly Module: new (code: Uint8Array) => object;
  readonly Memory: new (size: { initial: number }) => { readonly buffer: ArrayBuffer };
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
}

const MEMORY_PAGE_BYTES = 65536;

export class WasmCode {
  private compiled: object | undefined;

  constructor(private readonly base64: string) {}

  /** Starts it with memory of its own. Throws where the processor or Node cannot do it. */
  start<Exports>(memoryBytes: number): { readonly exports: Exports; readonly buffer: ArrayBuffer } {
    const { Module, Memory, Instance } = (globalThis as unknown as { WebAssembly: Wasm }).WebAssembly;
    this.compiled ??= new Module(Uint8Array.from(atob(this.base64), c => c.charCodeAt(0)));
    const memory = new Memory({ initial: Math.ceil(memoryBytes / MEMORY_PAGE_BYTES) });
    const { exports } = new Instance(this.compiled, { env: { memory } });
    return { exports: exports as Exports, buffer: memory.buffer };
  }
}
