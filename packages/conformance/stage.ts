import assert from 'node:assert/strict'
import { type Client, type Params, REQUEST_TIMEOUT_MS, type Reply, replyOf } from './client.ts'

/** What statements are tried with: a server and its accounts. */
export interface Stage {
  readonly user: Client
  /** Another account. Reading it throws NotTried if there is none. */
  readonly other: Client
  /** Whether to check what the notes of statements add, which only this product promises. */
  readonly checksNotes: boolean
  /** The largest upload that the server accepts, in bytes. Reading it throws NotTried if it is not known. */
  readonly largestUpload: number
  /** The smallest quota that can be set, in bytes. */
  readonly smallestQuota: number
  /** Reading it throws NotTried if the server is another process. */
  readonly inside: Inside
  /** A new library of the user with these files by path; folders are created as needed. */
  library(files?: Record<string, string>): Promise<string>
  /** A new account. Throws NotTried if none can be created. */
  signUp(): Promise<Client>
  /** An administrator. Throws NotTried if there is none. */
  admin(): Promise<Client>
  /** Sets the quota of an account to `smallestQuota`. Throws NotTried without an administrator. */
  limitSpace(account: Client): Promise<void>
  /** Repeats a check until it holds, for effects that follow a response. Throws its last failure. */
  eventually(check: () => Promise<void>): Promise<void>
}

/** Failures and delays that only the process of the server can cause. */
export interface Inside {
  /** Blocks reads of file content until disposed. */
  holdContent(): Disposable
  /** Blocks background copies and moves before they start, until disposed. */
  holdTasks(): Disposable
  /** Makes writes of file content fail until disposed. */
  breakStore(): Disposable
  /** The calls that the documentation marks as deprecated, such as `GET /api2/repos/`. */
  deprecatedCalls(): readonly string[]
}

/** A statement could not be tried here; the message is the reason. */
export class NotTried extends Error {
  override name = 'NotTried'
}

/** The body of a response, whose status must be the given one. */
export function bodyOf(reply: Reply, status = 200) {
  assert.equal(reply.status, status, `expected status ${status}, got ${reply.status} ${reply.text}`)
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
  return replyOf(await fetch(target, { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) }))
}

/** The descriptions of a library's commits, newest first. */
export async function descriptionsOf({ user }: Stage, library: string): Promise<string[]> {
  const { data } = bodyOf(await user.get(`/api/v2.1/repos/${library}/history/`))
  return data.map((entry: { description: string }) => entry.description)
}
