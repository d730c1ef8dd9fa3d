import { fileDirent } from '../../src/base/objects/dirent.ts'
import { fileId } from '../../src/base/objects/file.ts'
import { type BlockId, parseLibraryId, sha1Hex } from '../../src/base/objects/ids.ts'
import { parsePath } from '../../src/base/paths/paths.ts'
import { insertHeldBlocks } from '../../src/libraries/content/block-rows-store.ts'
import { dbOf } from '../../src/libraries/library/core.ts'
import { insertObjects, prepareFile } from '../../src/libraries/tree/object-store.ts'
import type { Client } from '../support/client.ts'
import type { TestServer } from '../support/server.ts'
import { Workspace } from './folders-support.ts'

export const UNKNOWN = '11111111-2222-4333-8444-555555555555'

/** Invalid values for names and paths. */
export const HOSTILE = [
  '\0',
  'a\0b',
  '\ud800',
  '..',
  '.',
  '../d',
  'd/x',
  '/',
  'a\\b',
  'ü'.repeat(128),
  '__proto__',
]

/** Two libraries of one account: `/a.txt`, `/b.txt`, `/d/x` and `/d/sub/y` here, `/in/a.txt` here and there. */
export async function two(server: TestServer): Promise<[here: Workspace, there: Workspace]> {
  const here = await Workspace.make(server)
  const there = await Workspace.make(server, here.client, 'Other')
  for (const folder of ['/d/sub', '/in']) await here.folder(folder)
  await there.folder('/in')
  for (const file of ['/a.txt', '/b.txt', '/d/x', '/d/sub/y', '/in/a.txt']) await here.file(file)
  await there.file('/in/a.txt')
  return [here, there]
}

/** The body of a batch call. */
export function batch(
  from: Workspace,
  names: readonly string[],
  to: Workspace,
  dst_parent_dir: string,
  src_parent_dir = '/',
) {
  return {
    src_repo_id: from.id,
    src_parent_dir,
    src_dirents: names,
    dst_repo_id: to.id,
    dst_parent_dir,
  }
}

export function syncBatch(client: Client, operation: 'copy' | 'move', json: unknown) {
  return client.post(`/api/v2.1/repos/sync-batch-${operation}-item/`, { json })
}

/** Changes the row of a library in a way that no call can. */
export async function setLibrary(server: TestServer, { id }: Workspace, change: string): Promise<void> {
  const { core } = server.running.services
  await dbOf(core).write((tx) => tx.run(`update library set ${change} where id = ?`, id))
}

/** Adds many files, each with its own block, to an existing folder in one commit. */
export async function fill(
  server: TestServer,
  space: Workspace,
  folder: string,
  names: readonly string[],
): Promise<void> {
  const { access, accounts } = server.running.services
  const account = await accounts.findByLogin(space.client.email)
  const id = parseLibraryId(space.id)
  const path = parsePath(folder)
  if (!account || !id || !path) throw new Error(`cannot fill ${folder}`)
  const library = (await access.open(account, id)).editable(path)
  const files = names.map((name) => {
    const blockId = sha1Hex(Buffer.from(`${folder}/${name}`)) as BlockId
    return { name, file: { blockIds: [blockId], size: 1000 } }
  })
  await library.commit(async (tree) => {
    for (const { name, file } of files) {
      const entry = { id: fileId(file), name, mtime: tree.now, size: file.size, modifier: account.email }
      await tree.put(path, fileDirent(entry))
    }
    return {
      description: 'Filled',
      result: undefined,
      async also(tx) {
        const blocks = files.map(({ file }) => ({ id: file.blockIds[0] as BlockId, size: file.size }))
        await insertHeldBlocks(tx, library.info.key, blocks)
        const rows = files.map(({ file }) => prepareFile(fileId(file), file))
        await insertObjects(tx, library.info.key, rows)
      },
    }
  })
}
