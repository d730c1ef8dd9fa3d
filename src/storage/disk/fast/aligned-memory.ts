// O_DIRECT needs page-aligned memory. Only WebAssembly memory is guaranteed to be aligned. If its address space cannot be reserved, ordinary
// memory is used, and transfers fall back to buffered ones.

export function alignedMemory(bytes: number): ArrayBuffer {
  return wasmMemory(bytes, false) ?? new ArrayBuffer(bytes)
}

/** As alignedMemory, shared between threads. */
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
