import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Pixels } from './image-formats.ts'

/** The part of libheif that is used. */
interface Libheif {
  readonly HeifDecoder: new () => { decode(bytes: Uint8Array): HeifImage[] }
}

interface HeifImage {
  get_width(): number
  get_height(): number
  display(
    target: { readonly data: Uint8ClampedArray; readonly width: number; readonly height: number },
    done: (target: unknown) => void,
  ): void
  free(): void
}

let createLibrary: (() => Libheif) | undefined
let library: Libheif | undefined

/** Loads the decoder, without compiling it: most images are of another format. */
export async function loadHeic(): Promise<void> {
  const wasm = import.meta.resolve('libheif-js/libheif-wasm/libheif.wasm')
  const [{ default: create }, wasmBinary] = await Promise.all([
    import('libheif-js/libheif-wasm/libheif.js'),
    readFile(fileURLToPath(wasm)),
  ])
  createLibrary = () => create({ wasmBinary }) as Libheif
}

/** Decodes the first image of a HEIC file, upright. Undefined if it has none, or one with more pixels than allowed. */
export async function decodeHeic(bytes: Buffer, maxPixels: number): Promise<Pixels | undefined> {
  library ??= createLibrary?.()
  if (library === undefined) return undefined
  // Reads the headers. Pixels are decoded by `display`.
  const images = new library.HeifDecoder().decode(bytes)
  try {
    const [image] = images
    if (image === undefined) return undefined
    const [width, height] = [image.get_width(), image.get_height()]
    if (!(width > 0 && height > 0 && width * height <= maxPixels)) return undefined
    const data = new Uint8ClampedArray(width * height * 4)
    const isDecoded = await new Promise((resolve) => image.display({ data, width, height }, resolve))
    return isDecoded ? { data: Buffer.from(data.buffer), width, height } : undefined
  } finally {
    for (const image of images) image.free()
  }
}
