import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import type { SentPart } from '../../packages/conformance/transfer.ts'
import * as transfer from '../../packages/conformance/transfer.ts'
import type { FileId, LibraryId } from '../../src/base/objects/ids.ts'
import type { LibraryPath } from '../../src/base/paths/paths.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import { getLibrary } from '../../src/libraries/library/libraries.ts'
import { Tree } from '../../src/libraries/tree/tree.ts'
import type { Reply } from './client.ts'
import type { TestServer } from './server.ts'

export {
  filePart,
  headOf,
  intoRoot,
  namesIn,
  postForm,
  type SendOptions,
  type SentFile,
  type SentPart,
  type Uploaded,
  updateLink,
  uploadFile,
  uploadLink,
} from '../../packages/conformance/transfer.ts'

export const BOUNDARY = 'carrel-test-boundary-5e1f'

/** Encodes a multipart form, its parts in the given order. */
export function formBytes(parts: readonly SentPart[], boundary = BOUNDARY): Buffer {
  return transfer.formBytes(parts, boundary)
}

/** Posts bytes to a link, as a multipart form unless the headers say otherwise. */
export function postBody(
  link: string,
  body: Uint8Array | ReadableStream,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const type = `multipart/form-data; boundary=${BOUNDARY}`
  return transfer.postBody(link, body, { 'Content-Type': type, ...headers })
}

/** Reads a file through the core. */
export async function storedBytes(server: TestServer, library: string, filePath: string): Promise<Buffer> {
  const { core } = server.running.services
  const info = await getLibrary(core, library as LibraryId)
  const tree = new Tree(storesOf(core).objects, info.key, info.root)
  const entry = await tree.getFile(filePath as LibraryPath)
  const file = await storesOf(core).objects.getFile(info.key, entry.id as FileId)
  const pieces: Buffer[] = []
  for await (const piece of storesOf(core).content.read(info.key, file)) pieces.push(piece)
  return Buffer.concat(pieces)
}

/**
 * Polls for an effect that follows a response or a closed connection. Fails after a fixed number of attempts, which take most of a
 * minute, or longer on a busy machine.
 */
export async function eventually(check: () => Promise<void>): Promise<void> {
  for (let looks = 0, pauseMs = 5; ; looks += 1, pauseMs = Math.min(pauseMs * 1.5, 200)) {
    try {
      return await check()
    } catch (error) {
      if (looks === 250) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

/** Asserts that aborted uploads left neither temporary files nor reserved bytes. */
export async function expectNothingLeft(server: TestServer): Promise<void> {
  assert.deepEqual(await readdir(path.join(server.data, 'blocks/tmp')), [])
  const { db } = server.running.services
  assert.deepEqual(await db.all('select bytes from quota_reservation'), [])
  assert.deepEqual(await db.all('select received from partial_upload'), [])
  assert.deepEqual(await db.all('select position from staged_block'), [])
}
