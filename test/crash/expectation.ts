import type { Changes, Request } from './load.ts'
import type { Recorded } from './recording.ts'

/** What a server must show after a power failure. */
export interface Expectation {
  /** An API token that was acknowledged; undefined if none was. */
  readonly token: string | undefined
  /** Unix seconds, if the server must not use the time of day. */
  readonly now?: number
  readonly writers: readonly ExpectedFiles[]
  readonly partial: readonly ExpectedUpload[]
}

/** The files of a writer, whose names begin with its prefix. */
export interface ExpectedFiles {
  readonly library: string
  readonly prefix: string
  /** SHA-256 by path. */
  readonly files: Readonly<Record<string, string>>
  /** The request that was not acknowledged: all of it happened, or nothing. */
  readonly unanswered: Changes | undefined
}

/** A resumable upload. */
interface ExpectedUpload {
  readonly library: string
  readonly name: string
  /** In bytes. The last chunk, once stored, leaves 0. */
  readonly allowed: readonly number[]
}

/** What the client knows when it has seen the first records of a recording: what was acknowledged, and what was sent. */
export class Knowledge {
  readonly #requests: readonly Request[]
  readonly #writers = new Map<
    string,
    { library: string; files: Map<string, string>; sent?: Request | undefined }
  >()
  readonly #partial = new Map<string, { library: string; name: string; bytes: number }>()
  #token: string | undefined

  constructor(requests: readonly Request[]) {
    this.#requests = requests
  }

  see(record: Recorded): void {
    if (record.kind !== 'mark') return
    const [word, argument = ''] = record.text.split(' ')
    if (word === 'token') this.#token = argument
    if (word === 'sent') this.#sent(this.#request(argument))
    if (word === 'acknowledged') this.#acknowledged(this.#request(argument))
  }

  expectation(): Expectation {
    const writers = Array.from(this.#writers, ([writer, { library, files, sent }]) => ({
      library,
      prefix: `${writer}-`,
      files: Object.fromEntries(files),
      unanswered: sent?.changes,
    }))
    const partial = Array.from(this.#partial.values(), ({ library, name, bytes }) => {
      const sent = [...this.#writers.values()].find(
        (writer) => writer.sent?.partial?.[name] !== undefined,
      )?.sent
      return { library, name, allowed: [bytes, ...(sent?.partial ? [sent.partial[name] ?? 0] : [])] }
    })
    return { token: this.#token, writers, partial }
  }

  #request(id: string): Request {
    const request = this.#requests[Number(id)]
    if (request === undefined) throw new Error(`There is no request ${id}.`)
    return request
  }

  #sent(request: Request): void {
    const known = this.#writers.get(request.writer) ?? { library: request.library, files: new Map() }
    this.#writers.set(request.writer, { ...known, sent: request })
    for (const name of Object.keys(request.partial ?? {})) {
      if (!this.#partial.has(name)) this.#partial.set(name, { library: request.library, name, bytes: 0 })
    }
  }

  #acknowledged(request: Request): void {
    const known = this.#writers.get(request.writer)
    if (known === undefined) throw new Error(`Request ${request.id} was acknowledged and never sent.`)
    known.sent = undefined
    for (const [name, hash] of Object.entries(request.changes)) {
      if (hash === null) known.files.delete(name)
      else known.files.set(name, hash)
    }
    for (const [name, bytes] of Object.entries(request.partial ?? {})) {
      this.#partial.set(name, { library: request.library, name, bytes })
    }
  }
}
