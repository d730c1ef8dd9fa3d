import type { Client } from '../support/client.ts'
import type { TestServer } from '../support/server.ts'
import { Workspace } from './folders-support.ts'

export const UNKNOWN = '11111111-2222-4333-8444-555555555555'

/** Values no client should send where names or paths are expected. */
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

/** Makes a library count as encrypted, or sets its owner's limit and what it holds. */
export async function setLibrary(server: TestServer, { id }: Workspace, change: string): Promise<void> {
  const { core } = server.running.services
  await core.db.write((tx) => tx.run(`update library set ${change} where id = ?`, id))
}
