import assert from 'node:assert/strict'
import type { Client, Reply } from '../support/client.ts'

/** Shares a library or a folder with a user, and returns the id of the folder's sub-library. */
export async function shareWith(
  owner: Client,
  id: string,
  to: Client,
  { path = '/', permission = 'rw' }: { path?: string; permission?: string } = {},
): Promise<string> {
  const reply = await owner.put(`/api2/repos/${id}/dir/shared_items/`, {
    query: { p: path },
    form: { share_type: 'user', username: to.email, permission },
  })
  assert.deepEqual([reply.status, reply.body.failed], [200, []], reply.text)
  assert.equal(reply.body.success.length, 1)
  return reply.body.virtual_repo_id
}

export async function shareWithGroup(
  owner: Client,
  id: string,
  group: number,
  { path = '/', permission = 'rw' }: { path?: string; permission?: string } = {},
): Promise<string> {
  const reply = await owner.put(`/api2/repos/${id}/dir/shared_items/`, {
    query: { p: path },
    form: { share_type: 'group', group_id: group, permission },
  })
  assert.deepEqual([reply.status, reply.body.failed], [200, []], reply.text)
  return reply.body.virtual_repo_id
}

export async function unshare(owner: Client, id: string, from: Client, path = '/'): Promise<void> {
  const query = { p: path, share_type: 'user', username: from.email }
  const reply = await owner.delete(`/api2/repos/${id}/dir/shared_items/`, { query })
  assert.deepEqual([reply.status, reply.body], [200, { success: true }], reply.text)
}

/** Creates a group, owned by the first account, and returns its id. */
export async function makeGroup(name: string, owner: Client, ...members: Client[]): Promise<number> {
  const made = await owner.post('/api/v2.1/groups/', { form: { name } })
  assert.equal(made.status, 201, made.text)
  for (const { email } of members) {
    const added = await owner.post(`/api/v2.1/groups/${made.body.id}/members/`, { form: { email } })
    assert.equal(added.status, 201, added.text)
  }
  return made.body.id
}

export async function makeFolder(client: Client, id: string, path: string): Promise<void> {
  const form = { operation: 'mkdir', create_parents: 'true' }
  const reply = await client.post(`/api2/repos/${id}/dir/`, { query: { p: path }, form })
  assert.equal(reply.status, 201, reply.text)
}

export function answers(reply: Reply, status: number, body: unknown): void {
  assert.deepEqual([reply.status, reply.body], [status, body], reply.text)
}

export function refused(reply: Reply, status: number, message: string): void {
  answers(reply, status, { error_msg: message })
}
