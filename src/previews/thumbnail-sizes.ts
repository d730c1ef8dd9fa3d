/**
 * The sizes thumbnails are made in, longest side in pixels. Any size may be asked for and gets the next larger one, so
 * that no client can have a thousand made of one image.
 */
const thumbnailSizes = [48, 96, 128, 192, 256, 384, 512, 1024, 2048] as const

/** The size that is sent for one asked for; the largest beyond it. */
export function thumbnailSizeFor(asked: number): number {
  return thumbnailSizes.find((size) => size >= asked) ?? Math.max(...thumbnailSizes)
}
