import type { Images } from '../imaging/index.ts'
import { accountRequester } from '../scheduling/index.ts'

/** The sides of the squares a picture is kept in, in pixels. */
export const avatarSizes = [32, 72, 128, 256] as const

export interface AvatarImage {
  readonly size: number
  /** PNG. */
  readonly data: Buffer
}

/**
 * A picture as squares of all sizes, without anything else its file said. Undefined for what is no PNG, JPEG or
 * GIF, damaged, or larger than a photograph. Throws Busy.
 */
export async function avatarImages(
  images: Images,
  accountKey: number,
  bytes: Buffer,
): Promise<AvatarImage[] | undefined> {
  const made = await images.squares(accountRequester(accountKey), bytes, avatarSizes)
  if ('failure' in made) return undefined
  return made.images.map((data, index) => ({ size: avatarSizes[index] ?? 0, data }))
}
