import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { startArchive, waitForArchive } from '../../packages/conformance/archive-calls.ts'
import { fileDirent } from '../../src/base/objects/dirent.ts'
import type { FileId } from '../../src/base/objects/ids.ts'
import { ROOT } from '../../src/base/paths/paths.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import type { Client } from './client.ts'
import type { TestServer } from './server.ts'
import { openLibrary } from './stored-files.ts'
import { unzip } from './zip-reader.ts'

export { progressOf, startArchive, waitForArchive } from '../../packages/conformance/archive-calls.ts'

export function fetchArchive(server: TestServer, token: string, init?: RequestInit): Promise<Response> {
  return fetch(`${server.url}/seafhttp/zip/${token}`, init)
}

/** Requests an archive, waits for it, downloads and unpacks it. */
export async function archiveOf(
  server: TestServer,
  client: Client,
  library: string,
  parent: string,
  dirents: readonly string[],
): Promise<Map<string, Buffer | null>> {
  const token = await startArchive(client, library, parent, dirents)
  const progress = await waitForArchive(client, token)
  assert.equal(progress.zipped, progress.total, JSON.stringify(progress))
  const response = await fetchArchive(server, token)
  assert.equal(response.status, 200)
  return unzip(Buffer.from(await response.arrayBuffer()))
}

/** Names of the temporary files of archives. */
export async function archiveFiles(server: TestServer): Promise<string[]> {
  return readdir(path.join(server.data, 'archives')).catch(() => [])
}

/** Blocks all reads of file content until `open` is called. */
export function holdContent(t: TestContext, server: TestServer): { open: () => void } {
  const { content } = storesOf(server.running.services.core)
  const read = content.read.bind(content)
  const readWhole = content.readWhole.bind(content)
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  t.mock.method(content, 'read', async function* (...args: Parameters<typeof read>) {
    await opened
    yield* read(...args)
  })
  t.mock.method(content, 'readWhole', async (...args: Parameters<typeof readWhole>) => {
    await opened
    return readWhole(...args)
  })
  return { open }
}

/** Adds entries to the root as a sync client could: any name, mode and size. */
export async function putSynced(
  server: TestServer,
  client: Client,
  library: string,
  entries: readonly { id: string; name: string; mode?: number; mtime?: number; size?: number }[],
): Promise<void> {
  const opened = await openLibrary(server, client, library)
  await opened.editable(ROOT).commit(async (tree) => {
    for (const { id, ...entry } of entries) {
      const rest = { mtime: 1_700_000_000, size: 1, modifier: '', ...entry }
      await tree.put(ROOT, fileDirent({ id: id as FileId, ...rest }))
    }
    return { description: 'Added', result: undefined }
  })
}
