import type { Client } from '../support/client.ts'
import { bodyOf } from './stage.ts'

/** The body of a batch copy or move out of a library's root. */
export function batchOf(from: string, names: readonly string[], to: string, folder = '/') {
  return {
    src_repo_id: from,
    src_parent_dir: '/',
    src_dirents: names,
    dst_repo_id: to,
    dst_parent_dir: folder,
  }
}

/** Starts a copy or move in the background; returns the id of its task. */
export async function startTask(
  user: Client,
  operation: 'copy' | 'move',
  json: ReturnType<typeof batchOf>,
): Promise<string> {
  return bodyOf(await user.post(`/api/v2.1/repos/async-batch-${operation}-item/`, { json })).task_id
}
