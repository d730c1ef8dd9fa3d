import { randomUUID } from 'node:crypto'
import { fail, refuseAtLimit } from '../../base/errors.ts'
import type { LibraryPath } from '../../base/paths/index.ts'
import { dbOf } from '../library/for-operations.ts'
import type { Library, LibraryCore } from '../library/index.ts'
import { inOrigin } from '../registry/index.ts'
import {
  countSmartLinks,
  findSmartLink,
  findSmartLinkToken,
  insertSmartLink,
  type SmartLink,
} from './smart-link-store.ts'

/**
 * The only smart link of a file or folder, created on first use. It follows renames and moves within the
 * library, and opens only for accounts that may read there. Throws path-not-found, limit-reached.
 */
export async function smartLinkTo(
  core: LibraryCore,
  library: Library,
  path: LibraryPath,
  isDir: boolean,
): Promise<string> {
  if (isDir) await library.tree.getDir(path)
  else await library.tree.getFile(path)
  const { key } = library.info
  const place = inOrigin(library.info, path)
  const known = await findSmartLinkToken(dbOf(core), key, place, isDir)
  if (known !== undefined) return known
  return dbOf(core).write(async (tx) => {
    await refuseAtLimit('smart-links', (most) => countSmartLinks(tx, key, most))
    await insertSmartLink(tx, randomUUID(), key, place, isDir)
    const token = await findSmartLinkToken(tx, key, place, isDir)
    return token ?? fail({ code: 'link-not-found', token: '' })
  })
}

/** Throws link-not-found. */
export async function getSmartLink(core: LibraryCore, token: string): Promise<SmartLink> {
  return (await findSmartLink(dbOf(core), token)) ?? fail({ code: 'link-not-found', token })
}
