import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
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

/** Starts a copy or move in the background; gives the id of its task. */
export async function startTask(
  user: Client,
  operation: 'copy' | 'move',
  json: ReturnType<typeof batchOf>,
): Promise<string> {
  return bodyOf(await user.post(`/api/v2.1/repos/async-batch-${operation}-item/`, { json })).task_id
}

/** Asks until a task has come to its end, as clients do; gives the last answer. */
export async function waitForTask(user: Client, task_id: string) {
  for (const deadline = Date.now() + 30_000; ; ) {
    const progress = bodyOf(await user.get('/api/v2.1/query-copy-move-progress/', { task_id }))
    if (progress.successful || progress.failed || progress.canceled) return progress
    assert.ok(Date.now() < deadline, `a task is still at ${progress.done} of ${progress.total}`)
    await setTimeout(5)
  }
}
