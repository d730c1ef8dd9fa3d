import assert from 'node:assert/strict'
import { Client } from './client.ts'

/** Creates a personal token of the client's account and returns a client that uses it. */
export async function personalToken(
  owner: Client,
  fields: { permission: 'r' | 'rw' | 'upload'; repo_id?: string; expire_days?: number; name?: string },
): Promise<Client & { readonly id: number }> {
  const reply = await owner.post('/api/v2.1/personal-tokens/', { json: { name: 'script', ...fields } })
  assert.equal(reply.status, 200, reply.text)
  return Object.assign(new Client(owner.url, reply.body.token, owner.email), { id: reply.body.id as number })
}

/** Creates a library token and returns a client that uses it. */
export async function libraryToken(
  owner: Client,
  library: string,
  permission: 'r' | 'rw' = 'rw',
  app = 'backup',
): Promise<Client> {
  const path = `/api/v2.1/repos/${library}/repo-api-tokens/`
  const reply = await owner.post(path, { form: { app_name: app, permission } })
  assert.equal(reply.status, 200, reply.text)
  return new Client(owner.url, reply.body.api_token)
}
