import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Pixels } from './pixels.ts'

let wasm: Buffer | undefined
let compiling: Promise<unknown> | undefined

/** Loads the renderer, without compiling it: most images are of another format. */
export async function loadSvg(): Promise<void> {
  await import('@resvg/resvg-wasm')
  wasm = await readFile(fileURLToPath(import.meta.resolve('@resvg/resvg-wasm/index_bg.wasm')))
}

/**
 * Draws an SVG with a longer side of `side` pixels. Nothing outside the document is loaded: no files, no addresses, no fonts, so text is
 * missing. Scripts and animations do not run.
 */
export async function drawSvg(bytes: Buffer, side: number): Promise<Pixels | undefined> {
  if (wasm === undefined) return undefined
  const { initWasm, Resvg } = await import('@resvg/resvg-wasm')
  compiling ??= initWasm(wasm)
  await compiling
  const options = { font: { loadSystemFonts: false }, imageRendering: 0, background: '#ffffff' } as const
  const measured = new Resvg(bytes, options)
  const isWide = measured.width >= measured.height
  measured.free()
  const drawing = new Resvg(bytes, { ...options, fitTo: { mode: isWide ? 'width' : 'height', value: side } })
  const image = drawing.render()
  try {
    return { data: Buffer.from(image.pixels), width: image.width, height: image.height }
  } finally {
    image.free()
    drawing.free()
  }
}
