// Reading and writing past the page cache needs memory that begins a page. Only that of WebAssembly is promised to; where
// there is no room for the addresses it reserves, any memory will do.

export function alignedMemory(bytes: number): ArrayBuffer {
  return wasmMemory(bytes, false) ?? new ArrayBuffer(bytes)
}

/** As alignedMemory, for other threads too. */
export function alignedSharedMemory(bytes: number): SharedArrayBuffer {
  return wasmMemory(bytes, true) ?? new SharedArrayBuffer(bytes)
}

function wasmMemory<Shared extends boolean>(bytes: number, shared: Shared) {
  const pages = Math.ceil(bytes / WASM_PAGE)
  try {
    return new WebAssembly.Memory({ initial: pages, maximum: pages, shared }).buffer as Shared extends true
      ? SharedArrayBuffer
      : ArrayBuffer
  } catch {
    return undefined
  }
}

const WASM_PAGE = 65_536

// Node has it; the type definitions of Node do not.
declare const WebAssembly: {
  readonly Memory: new (size: {
    initial: number
    maximum: number
    shared: boolean
  }) => {
    readonly buffer: ArrayBuffer | SharedArrayBuffer
  }
}
