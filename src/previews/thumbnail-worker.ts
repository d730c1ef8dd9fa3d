import { parentPort } from 'node:worker_threads'
import sharp from 'sharp'

/** One thumbnail to be made. */
export interface ThumbnailJob {
  /** The file with the image, and the one to be written. */
  readonly source: string
  readonly target: string
  /** Pixels of the longer side. */
  readonly size: number
}

/** Undefined when it was made, else why it was not. */
export type ThumbnailReply = { readonly failure: string | undefined }

// A picture of a few kilobytes can claim any number of pixels, and each takes four bytes of memory.
const MOST_PIXELS = 64_000_000
const MOST_SECONDS = 8

// One picture at a time with one thread: thumbnails may wait, uploads and downloads may not.
sharp.concurrency(1)
sharp.cache(false)
// Only the formats that are announced, in the whole process: others would bring parsers nobody asked for.
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

parentPort?.on('message', (job: ThumbnailJob) => void make(job))

async function make({ source, target, size }: ThumbnailJob): Promise<void> {
  let failure: string | undefined
  try {
    await sharp(source, { limitInputPixels: MOST_PIXELS, sequentialRead: true })
      .rotate()
      .resize({ width: size, height: size, fit: 'inside', withoutEnlargement: true })
      .flatten({ background: '#ffffff' })
      .jpeg({ quality: 80 })
      .timeout({ seconds: MOST_SECONDS })
      .toFile(target)
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error)
  }
  const reply: ThumbnailReply = { failure }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(reply)
}
