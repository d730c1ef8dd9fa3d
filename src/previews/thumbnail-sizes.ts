/**
 * The sizes of thumbnails, longest side in pixels. A request gets the next larger one, so
 * that a client cannot create thousands per image.
 */
const thumbnailSizes = [48, 96, 128, 192, 256, 384, 512, 1024, 2048] as const

/** The size sent for a requested one; the largest if it exceeds all. */
export function thumbnailSizeFor(asked: number): number {
  return thumbnailSizes.find((size) => size >= asked) ?? Math.max(...thumbnailSizes)
}
