import assert from 'node:assert/strict'
import type { CallOptions, Client, Reply } from '../support/client.ts'
import type { TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { Workspace } from './folders-support.ts'

export const SHARE = '/api/v2.1/share-links/'
export const UPLOAD = '/api/v2.1/upload-links/'
export const PASSWORD = 'open sesame now'

/** A link as the API shows it. */
// Tests inspect responses of any shape.
// oxlint-disable-next-line typescript/no-explicit-any
export type Shown = any

/** A library with a folder and files to share. */
export async function sharedSpace(server: TestServer, client?: Client): Promise<Workspace> {
  const space = await Workspace.make(server, client)
  await uploadFile(space.client, space.id, '/docs/a.txt', 'alpha beta gamma')
  await uploadFile(space.client, space.id, '/docs/sub/b.txt', 'bee')
  await uploadFile(space.client, space.id, '/secret.txt', 'not for you')
  return space
}

export async function shareLink(space: Workspace, path: string, more: object = {}): Promise<Shown> {
  const reply = await space.client.post(SHARE, { json: { repo_id: space.id, path, ...more } })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

export async function uploadLinkTo(space: Workspace, path: string, more: object = {}): Promise<Shown> {
  const reply = await space.client.post(UPLOAD, { json: { repo_id: space.id, path, ...more } })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

/** The response to a visitor without an account. */
export async function visit(server: TestServer, path: string, options: CallOptions = {}): Promise<Reply> {
  return server.anonymous.call('GET', path, options)
}

/** The entries of the shared folder of a link, as a visitor without an account sees them. */
export async function seen(server: TestServer, token: string, path = '/'): Promise<string[] | number> {
  const reply = await visit(server, `${SHARE}${token}/dirents/`, { query: { path } })
  if (reply.status !== 200) return reply.status
  return reply.body.dirent_list.map((one: Shown) => (one.is_dir ? one.folder_path : one.file_path))
}

/** The cookie set after the password of a link was entered. */
export async function cookieOf(server: TestServer, page: string, password = PASSWORD): Promise<string> {
  const reply = await server.anonymous.post(page, { form: { password } })
  assert.equal(reply.status, 302, reply.text)
  return (reply.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
}
