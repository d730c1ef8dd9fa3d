import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import type { LibraryId } from '../../src/base/objects/ids.ts'
import { baseName, parentOf, ROOT } from '../../src/base/paths/paths.ts'
import { addFiles } from '../../src/libraries/edits/upload.ts'
import type { Client } from './client.ts'
import { at } from './core.ts'
import type { TestServer } from './server.ts'

/** Adds a file to a library without the upload routes and returns the id of its content. */
export async function storeFile(
  server: TestServer,
  client: Client,
  library: string,
  path: string,
  bytes: Buffer,
  mtime?: number,
): Promise<string> {
  const { core } = server.running.services
  const opened = await openLibrary(server, client, library)
  const source = bytes.length === 0 ? [] : [bytes]
  const content = await core.incoming.receive(Readable.from(source))
  const file = { name: baseName(at(path)), content, mtime }
  await addFiles(core, opened.editable(ROOT), parentOf(at(path)), [file], { replace: true })
  return content.id
}

export async function openLibrary(server: TestServer, client: Client, library: string) {
  const { access, accounts } = server.running.services
  return access.open(await accounts.get(client.email), library as LibraryId)
}

/** Content of every kind of size: empty, a few bytes, a small block, a large one, several. */
export const SIZES = [0, 1, 1000, 65_535, 65_536, 300_000, 9 * 2 ** 20, 25 * 2 ** 20 + 7]

export function bytesOf(size: number): Buffer {
  return size === 0 ? Buffer.alloc(0) : randomBytes(size)
}
