/** The sides of the squares a picture is kept in, in pixels. */
export const avatarSizes = [32, 72, 128, 256] as const

// Enough for a photograph; a few hundred bytes can claim to be far more than any memory holds.
const MOST_PIXELS = 40_000_000
const LONGEST_SECONDS = 10

/** What a picture begins with, by kind. Whatever else could be decoded is not even tried. */
const beginnings: readonly Buffer[] = [
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
  Buffer.from([0xff, 0xd8, 0xff]),
  Buffer.from('GIF87a', 'latin1'),
  Buffer.from('GIF89a', 'latin1'),
]

export interface AvatarImage {
  readonly size: number
  /** PNG. */
  readonly data: Buffer
}

let last: Promise<unknown> = Promise.resolve()

/**
 * A picture as squares of all sizes, without anything else its file said. Undefined for what is no PNG, JPEG or
 * GIF, damaged, or larger than a photograph. Pictures are decoded in threads, one after another, so that they
 * leave room for everything else that is done there.
 */
export function avatarImages(bytes: Buffer): Promise<AvatarImage[] | undefined> {
  const made = last.then(() => makeImages(bytes))
  last = made.catch(() => {})
  return made
}

async function makeImages(bytes: Buffer): Promise<AvatarImage[] | undefined> {
  if (!beginnings.some((beginning) => bytes.subarray(0, beginning.length).equals(beginning))) return undefined
  try {
    const largest = await square(bytes, Math.max(...avatarSizes))
    const images: AvatarImage[] = []
    for (const size of avatarSizes) images.push({ size, data: await square(largest, size) })
    return images
  } catch {
    // Whatever a decoder stumbles over, the picture cannot be used; nothing of ours depends on why.
    return undefined
  }
}

async function square(bytes: Buffer, side: number): Promise<Buffer> {
  // Loaded with the first picture: a server without any need not have the decoder in memory.
  const { default: sharp } = await import('sharp')
  return sharp(bytes, { limitInputPixels: MOST_PIXELS, failOn: 'error', sequentialRead: true })
    .autoOrient()
    .resize(side, side, { fit: 'cover' })
    .png({ compressionLevel: 9 })
    .timeout({ seconds: LONGEST_SECONDS })
    .toBuffer()
}
