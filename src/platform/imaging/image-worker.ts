import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { formatOf, type ImageFormat, type ImageSource, type Pixels } from './image-formats.ts'

let wasm: Buffer | undefined
let compiling: Promise<unknown> | undefined

/** Loads the renderer, without compiling it: most images are of another format. */
async function loadSvg(): Promise<void> {
  await import('@resvg/resvg-wasm')
  wasm = await readFile(fileURLToPath(import.meta.resolve('@resvg/resvg-wasm/index_bg.wasm')))
}

/**
 * Draws an SVG with a longer side of `side` pixels. Nothing outside the document is loaded: no files, no addresses, no fonts, so text is
 * missing. Scripts and animations do not run.
 */
async function drawSvg(bytes: Buffer, side: number): Promise<Pixels | undefined> {
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

// Entry point of the image worker process.
import sharp, { type Sharp } from 'sharp'
import { serveWorker, type WorkerInput } from '../workers/runtime/index.ts'
import { findCover, findPreview, loadCovers } from './contained-image.ts'
import { decodeHeic, loadHeic } from './heic.ts'
import { describeImage, type ImageDescription } from './image-description.ts'
import { drawPdfPage, loadPdf } from './pdf-page.ts'

/** The requested output of an image. */
export interface ImageTask {
  readonly source: ImageSource
  readonly formats: readonly ImageFormat[]
  /** Images with more pixels are not decoded. A header can claim any number, and each pixel takes four bytes. */
  readonly maxPixels: number
  /** A JPEG whose longer side has that many pixels, never enlarged; a square PNG of each size; or a description. */
  readonly make: { readonly fit: number } | { readonly squares: readonly number[] } | 'description'
}

/** `undecodable`: the image is invalid. `exhausted`: the process ran out of resources. */
type ImageResult =
  | { readonly images: readonly Uint8Array[] }
  | { readonly description: ImageDescription }
  | 'undecodable'
  | 'exhausted'

// One image at a time on one thread: the number of processes limits the CPU use.
sharp.concurrency(1)
sharp.cache(false)
// Allow-list of loaders. All others, such as SVG and PDF, are unneeded attack surface.
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({
  operation: [
    'VipsForeignLoadJpeg',
    'VipsForeignLoadPng',
    'VipsForeignLoadWebp',
    'VipsForeignLoadHeif',
    'VipsForeignLoadTiff',
    'VipsForeignLoadNsgif',
  ],
})

serveWorker<ImageTask, ImageResult>({
  // Loading the decoders of WebAssembly is cheap. They are compiled when the first image needs them.
  prepare: ({ source }) =>
    source === 'audio' ? loadCovers() : Promise.all([loadHeic(), loadSvg(), loadPdf()]),
  work,
})

async function work({ task, bytes, retire }: WorkerInput<ImageTask>): Promise<ImageResult> {
  try {
    if (task.make === 'description') return await describe(bytes, task)
    if ('fit' in task.make) return toResult(await fitFrom(bytes, task, task.make.fit))
    const format = formatOf(bytes)
    if (format === undefined || !task.formats.includes(format)) return 'undecodable'
    const largest = await square(bytes, task, Math.max(...task.make.squares))
    const images: Uint8Array[] = []
    for (const side of task.make.squares) images.push(await square(largest, task, side))
    return { images }
  } catch (error) {
    // The memory of a WebAssembly decoder is in an unknown state after a trap.
    if (error instanceof Error && error.name === 'RuntimeError') retire()
    const isExhausted = error instanceof Error && /memory|alloc/i.test(error.message)
    return isExhausted ? 'exhausted' : 'undecodable'
  }
}

async function describe(bytes: Buffer, task: ImageTask): Promise<ImageResult> {
  const format = formatOf(bytes)
  if (format === undefined || !task.formats.includes(format)) return 'undecodable'
  if (format === 'heic') {
    const pixels = await decodeHeic(bytes, task.maxPixels)
    if (pixels === undefined) return 'undecodable'
    const { data, width, height } = pixels
    const image = sharp(data, { raw: { width, height, channels: 4 } })
    return { description: await describeImage(image, { width, height }, bytes) }
  }
  const image = sharp(bytes, { limitInputPixels: task.maxPixels, sequentialRead: true }).autoOrient()
  const { autoOrient } = await image.metadata()
  return { description: await describeImage(image, autoOrient, bytes) }
}

function toResult(image: Uint8Array | undefined): ImageResult {
  return image === undefined ? 'undecodable' : { images: [image] }
}

async function fitFrom(bytes: Buffer, task: ImageTask, side: number): Promise<Buffer | undefined> {
  if (task.source === 'svg') return fitPixels(await drawSvg(bytes, side), side)
  if (task.source === 'pdf') return fitPixels(await drawPdfPage(bytes, side), side)
  if (task.source === 'pixels') return fitEncoded(bytes, task, side)
  const contained = task.source === 'audio' ? await findCover(bytes) : findPreview(bytes)
  return contained && fitEncoded(contained, task, side)
}

async function fitEncoded(bytes: Buffer, task: ImageTask, side: number): Promise<Buffer | undefined> {
  const format = formatOf(bytes)
  if (format === undefined || !task.formats.includes(format)) return undefined
  if (format === 'heic') return fitPixels(await decodeHeic(bytes, task.maxPixels), side)
  const image = sharp(bytes, { limitInputPixels: task.maxPixels, sequentialRead: true }).autoOrient()
  return fit(image, side)
}

async function fitPixels(pixels: Pixels | undefined, side: number): Promise<Buffer | undefined> {
  if (pixels === undefined) return undefined
  const { data, width, height } = pixels
  return fit(sharp(data, { raw: { width, height, channels: 4 } }), side)
}

function fit(image: Sharp, side: number): Promise<Buffer> {
  return image
    .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
    .flatten({ background: '#ffffff' })
    .jpeg({ quality: 80 })
    .toBuffer()
}

function square(bytes: Buffer, { maxPixels }: ImageTask, side: number): Promise<Buffer> {
  return sharp(bytes, { limitInputPixels: maxPixels, failOn: 'error', sequentialRead: true })
    .autoOrient()
    .resize(side, side, { fit: 'cover' })
    .png({ compressionLevel: 9 })
    .toBuffer()
}
