import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { Client, Reply } from '../support/client.ts'
import type { TestServer } from '../support/server.ts'

export const QUERY = '/api/v2.1/query-copy-move-progress/'
export const CANCEL = '/api/v2.1/copy-move-task/'
export const UNDER_WAY = { canceled: false, failed: false, successful: false, failed_reason: '' }
export const INTERNAL = 'Internal error when copy or move'

export function start(client: Client, operation: 'copy' | 'move', json: unknown): Promise<Reply> {
  return client.post(`/api/v2.1/repos/async-batch-${operation}-item/`, { json })
}

export async function started(client: Client, operation: 'copy' | 'move', json: unknown): Promise<string> {
  const reply = await start(client, operation, json)
  assert.equal(reply.status, 200, reply.text)
  assert.match(reply.body.task_id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  return reply.body.task_id
}

export interface Progress {
  done: number
  total: number
  canceled: boolean
  failed: boolean
  successful: boolean
  failed_reason: string
}

export async function progress(client: Client, task_id: string): Promise<Progress> {
  const reply = await client.get(QUERY, { task_id })
  assert.equal(reply.status, 200, reply.text)
  const { done, total, canceled, failed, successful } = reply.body
  assert.ok([canceled, failed, successful].filter(Boolean).length <= 1, reply.text)
  assert.ok(done <= total, reply.text)
  return reply.body
}

/** Polls, as clients do, until the task has ended. */
export async function ended(client: Client, task_id: string): Promise<Progress> {
  for (;;) {
    const now = await progress(client, task_id)
    if (now.canceled || now.failed || now.successful) return now
    await setTimeout(10)
  }
}

export function cancel(client: Client, task_id: string): Promise<Reply> {
  return client.delete(CANCEL, { form: { task_id } })
}

/** Blocks every task before it copies anything, until released. */
export function holdTasks(server: TestServer) {
  const gate = Promise.withResolvers<undefined>()
  const reached = Promise.withResolvers<undefined>()
  // Any node may work on a task.
  const held = server.nodes.map(({ services: { quotas } }) => {
    const roomLeft = quotas.roomLeft.bind(quotas)
    return mock.method(quotas, 'roomLeft', async (library: Parameters<typeof roomLeft>[0]) => {
      reached.resolve(undefined)
      await gate.promise
      return roomLeft(library)
    })
  })
  return {
    reached: reached.promise,
    release() {
      for (const each of held) each.mock.restore()
      gate.resolve(undefined)
    },
    [Symbol.dispose]() {
      this.release()
    },
  }
}
