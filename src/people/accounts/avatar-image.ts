import { accountRequester } from '../../base/scheduling/index.ts'
import type { Images } from '../../platform/imaging/index.ts'

/** Side lengths of the stored squares, in pixels. */
export const avatarSizes = [32, 72, 128, 256] as const

export interface AvatarImage {
  readonly size: number
  /** PNG. */
  readonly data: Buffer
}

/**
 * Renders an image as squares of all sizes, without metadata. Undefined for anything but a valid PNG, JPEG or
 * GIF of ordinary size. Throws Busy.
 */
export async function avatarImages(
  images: Images,
  accountKey: number,
  bytes: Buffer,
): Promise<AvatarImage[] | undefined> {
  const created = await images.squares(accountRequester(accountKey), bytes, avatarSizes)
  if ('failure' in created) return undefined
  return created.images.map((data, index) => ({ size: avatarSizes[index] ?? 0, data }))
}
