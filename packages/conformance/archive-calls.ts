import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { type Client, REQUEST_TIMEOUT_MS } from './client.ts'
import { bodyOf, type Stage } from './stage.ts'
import { uploadLink } from './transfer.ts'

const POLL_MS = 20
const MAX_POLLS = 3000

/** Requests an archive and returns its token. */
export async function startArchive(
  client: Client,
  library: string,
  parent: string,
  dirents: readonly string[],
): Promise<string> {
  const form = { parent_dir: parent, dirents }
  return bodyOf(await client.post(`/api/v2.1/repos/${library}/zip-task/`, { form })).zip_token
}

export async function progressOf(client: Client, token: string) {
  return bodyOf(await client.get('/api/v2.1/query-zip-progress/', { token }))
}

/** Polls until an archive is finished, failed or canceled, and returns the last response. */
export async function waitForArchive(client: Client, token: string) {
  for (let polls = 0; ; polls += 1) {
    const progress = await progressOf(client, token)
    const { zipped, total, failed, canceled } = progress
    if (zipped === total || failed === 1 || canceled === 1) return progress
    assert.ok(polls < MAX_POLLS, `an archive is still at ${zipped} of ${total}`)
    await setTimeout(POLL_MS)
  }
}

/** Downloads an archive from the file server, whose root is that of its upload links. */
export async function fetchArchive({ user }: Stage, library: string, token: string): Promise<Response> {
  const link = await uploadLink(user, library)
  const at = link.replace(/\/upload-api\/.*$/, `/zip/${token}`)
  return fetch(at, { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) })
}
