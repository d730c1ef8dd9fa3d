import { randomBytes } from 'node:crypto'
import { accountRequester, failIfBusy } from '../../base/scheduling/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Images } from '../../platform/imaging/index.ts'
import type { Account } from './account.ts'
import { deleteAvatar, findAvatar, putAvatar } from './avatar-store.ts'
import type { Directory } from './directory.ts'

/**
 * Account pictures. Each has an unguessable name, which changes whenever the picture is replaced, so that its
 * URL can be public and cached forever.
 */
export class Avatars {
  readonly #db: Database
  readonly #directory: Directory
  readonly #images: Images
  readonly #now: () => number

  constructor(db: Database, directory: Directory, images: Images, now: () => number) {
    this.#db = db
    this.#images = images
    this.#directory = directory
    this.#now = now
  }

  /** Returns the name of the new picture; undefined if the image is invalid. Throws busy. */
  async put(account: Account, bytes: Buffer): Promise<string | undefined> {
    const images = await avatarImages(this.#images, account.key, bytes).catch(failIfBusy)
    if (images === undefined) return undefined
    const name = randomBytes(16).toString('hex')
    await this.#db.write((tx) => putAvatar(tx, account.key, name, images, this.#now()))
    this.#directory.invalidate(account.email)
    return name
  }

  async remove(account: Account): Promise<void> {
    await this.#db.write((tx) => deleteAvatar(tx, account.key))
    this.#directory.invalidate(account.email)
  }

  /** A PNG of the stored size for a requested one: the next larger, or the largest. */
  async find(name: string, asked: number): Promise<Buffer | undefined> {
    const size = avatarSizes.find((one) => one >= asked) ?? Math.max(...avatarSizes)
    const data = await findAvatar(this.#db, name, size)
    return data && Buffer.from(data)
  }
}

/** Side lengths of the stored squares, in pixels. */
const avatarSizes = [32, 72, 128, 256] as const

export interface AvatarImage {
  readonly size: number
  /** PNG. */
  readonly data: Buffer
}

/**
 * Renders an image as squares of all sizes, without metadata. Undefined for anything but a valid PNG, JPEG or
 * GIF of ordinary size. Throws Busy.
 */
async function avatarImages(
  images: Images,
  accountKey: number,
  bytes: Buffer,
): Promise<AvatarImage[] | undefined> {
  const created = await images.squares(accountRequester(accountKey), bytes, avatarSizes)
  if ('failure' in created) return undefined
  return created.images.map((data, index) => ({ size: avatarSizes[index] ?? 0, data }))
}
