import assert from 'node:assert/strict'
import type { Client, Params, Reply } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'

/** The largest upload that the server of the stage accepts, in bytes. */
export const LARGEST_UPLOAD = 1_000_000

/** The environment of the statements: one server, one acting account, and another account. */
export interface Stage extends AsyncDisposable {
  readonly server: TestServer
  readonly user: Client
  readonly other: Client
  /** A new library of the user with these files by path; folders are created as needed. */
  library(files?: Record<string, string>): Promise<string>
}

export async function openStage(): Promise<Stage> {
  // Some statements cause failures inside the server; their log lines are dropped.
  const env = { CARREL_LOG: 'silent', CARREL_MAX_UPLOAD_MB: String(LARGEST_UPLOAD / 1_000_000) }
  const server = await startServer({ env })
  const user = await server.signUp()
  return {
    server,
    user,
    other: await server.signUp(),
    async library(files = {}) {
      const id = await user.createLibrary('Plans')
      for (const [path, text] of Object.entries(files)) await uploadFile(user, id, path, text)
      return id
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** The body of a response, whose status must be the given one. */
export function bodyOf(reply: Reply, status = 200) {
  assert.equal(reply.status, status, reply.text)
  return reply.body
}

/** Asserts the status and the body of a response. */
export function expectAnswer(reply: Reply, body: unknown, status = 200): void {
  assert.deepEqual([reply.status, reply.body], [status, body])
}

/** The response at an absolute URL, without a token. */
export async function fetched(url: string | URL, query: Params = {}): Promise<Reply> {
  const target = new URL(url)
  for (const [name, value] of Object.entries(query)) target.searchParams.set(name, String(value))
  const response = await fetch(target)
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: parsed(text) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The descriptions of a library's commits, newest first. */
export async function descriptionsOf({ user }: Stage, library: string): Promise<string[]> {
  const { data } = bodyOf(await user.get(`/api/v2.1/repos/${library}/history/`))
  return data.map((entry: { description: string }) => entry.description)
}
