/** What we use of WebAssembly, whose types come with those of browsers. */
interface Wasm {
  readonly Module: new (code: Uint8Array) => object;
  readonly Memory: new (size: { initial: number }) => { readonly buffer: ArrayBuffer };
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
}

const PAGE_BYTES = 65536;
const compiled = new Map<string, object>();

/** A module of scripts/build-wasm.mjs with memory of its own, which never grows. Throws where the processor or Node cannot do it. */
export function instantiate<Exports>(
  code: string,
  memoryBytes: number,
): { readonly exports: Exports; readonly buffer: ArrayBuffer } {
  const { Module, Memory, Instance } = (globalThis as unknown as { WebAssembly: Wasm }).WebAssembly;
  const module =
    compiled.get(code) ?? new Module(Uint8Array.from(atob(code), letter => letter.charCodeAt(0)));
  compiled.set(code, module);
  const memory = new Memory({ initial: Math.ceil(memoryBytes / PAGE_BYTES) });
  return {
    exports: new Instance(module, { env: { memory } }).exports as Exports,
    buffer: memory.buffer,
  };
}
