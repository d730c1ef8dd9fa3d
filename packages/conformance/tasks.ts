import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import type { Client } from './client.ts'
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

const POLL_MS = 20
const MAX_POLLS = 3000

/** Polls, as clients do, until a task has ended; returns its progress. */
export async function ended(user: Client, task_id: string): Promise<Progress> {
  for (let polls = 0; ; polls += 1) {
    const now: Progress = bodyOf(await user.get('/api/v2.1/query-copy-move-progress/', { task_id }))
    const flags = [now.canceled, now.failed, now.successful].filter(Boolean).length
    assert.ok(flags <= 1, `a task has several flags: ${JSON.stringify(now)}`)
    if (flags === 1) return now
    assert.ok(polls < MAX_POLLS, `a task is still at ${now.done} of ${now.total}`)
    await setTimeout(POLL_MS)
  }
}

interface Progress {
  readonly done: number
  readonly total: number
  readonly canceled: boolean
  readonly failed: boolean
  readonly successful: boolean
  readonly failed_reason: string
}
