// Entry point of the image worker process.
import sharp from 'sharp'
import { serveWorker } from '../workers/runtime/index.ts'
import { formatOf, type ImageFormat } from './image-formats.ts'

/** The requested output of an image. */
export interface ImageTask {
  readonly formats: readonly ImageFormat[]
  /** Images with more pixels are not decoded. A header can claim any number, and each pixel takes four bytes. */
  readonly maxPixels: number
  /** A JPEG whose longer side has that many pixels, never enlarged; or a square PNG of each size. */
  readonly make: { readonly fit: number } | { readonly squares: readonly number[] }
}

/** `undecodable`: the image is invalid. `exhausted`: the process ran out of resources. */
export type ImageResult = { readonly images: readonly Uint8Array[] } | 'undecodable' | 'exhausted'

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

serveWorker<ImageTask, ImageResult>(async ({ task, bytes }) => {
  const format = formatOf(bytes)
  if (format === undefined || !task.formats.includes(format)) return 'undecodable'
  try {
    if ('fit' in task.make) return { images: [await fit(bytes, task, task.make.fit)] }
    const largest = await square(bytes, task, Math.max(...task.make.squares))
    const images: Uint8Array[] = []
    for (const side of task.make.squares) images.push(await square(largest, task, side))
    return { images }
  } catch (error) {
    const isExhausted = error instanceof Error && /memory|alloc/i.test(error.message)
    return isExhausted ? 'exhausted' : 'undecodable'
  }
})

function fit(bytes: Buffer, { maxPixels }: ImageTask, side: number): Promise<Buffer> {
  return sharp(bytes, { limitInputPixels: maxPixels, sequentialRead: true })
    .autoOrient()
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
