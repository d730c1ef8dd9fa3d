import assert from 'node:assert/strict'
import { Client } from './client.ts'

/** Of accounts that sign up without another one. */
const PASSWORD = 'a long password'

/** Creates a personal token of the client's account and returns a client that uses it. */
export async function personalToken(
  owner: Client,
  fields: { permission: 'r' | 'rw' | 'upload'; repo_id?: string; expire_days?: number; name?: string },
): Promise<Client & { readonly id: number }> {
  const json = { name: 'script', ...fields }
  const first = await owner.post('/api/v2.1/personal-tokens/', { json })
  // A test that moved the clock signed in too long ago.
  const reply = first.headers.has('x-carrel-confirmation')
    ? await owner.post('/api/v2.1/personal-tokens/', { json: { ...json, current_password: PASSWORD } })
    : first
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
