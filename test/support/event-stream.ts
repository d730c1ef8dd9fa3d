import assert from 'node:assert/strict'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import type { Client } from './client.ts'

/** One server-sent event. */
export interface SentEvent {
  readonly id: string | undefined
  readonly event: string
  // Events have any shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly data: any
}

/** A client of the event stream, which parses it as a browser does. */
export class EventStream implements AsyncDisposable {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  /** What a browser would send as Last-Event-ID. */
  lastId: string | undefined
  /** Comments, which are not events. */
  comments = 0
  readonly #request: ClientRequest
  readonly #answer: IncomingMessage
  readonly #events: SentEvent[] = []
  #text = ''
  #wake: (() => void) | undefined
  #ended = false

  private constructor(sent: ClientRequest, answer: IncomingMessage) {
    this.#request = sent
    this.#answer = answer
    this.status = answer.statusCode ?? 0
    this.headers = answer.headers
    answer.setEncoding('utf8')
    answer.on('data', (text: string) => this.#read(text))
    answer.on('close', () => {
      this.#ended = true
      this.#wake?.()
    })
    answer.on('error', () => {})
  }

  static async open(
    client: Client,
    options: { query?: string; lastEventId?: string } = {},
  ): Promise<EventStream> {
    const { promise, resolve, reject } = Promise.withResolvers<EventStream>()
    const sent = request(
      `${client.url}/api/v2.1/events/${options.query ?? ''}`,
      {
        agent: false,
        headers: {
          ...(client.token !== undefined && { Authorization: `Token ${client.token}` }),
          ...(options.lastEventId !== undefined && { 'Last-Event-ID': options.lastEventId }),
        },
      },
      (answer) => resolve(new EventStream(sent, answer)),
    )
    sent.on('error', reject)
    sent.end()
    return promise
  }

  /** Waits for the next event. Undefined if the stream ends first. */
  async next(): Promise<SentEvent | undefined> {
    while (this.#events.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return this.#events.shift()
  }

  /** Waits for the next event of a name and drops others before it. */
  async nextOf(name: string): Promise<SentEvent> {
    for (;;) {
      const next = await this.next()
      assert.ok(next, `the stream ended before "${name}" came`)
      if (next.event === name) return next
    }
  }

  /**
   * Waits for the event of one commit. Earlier commits are dropped: a commit made before the stream
   * was opened can still be announced on it.
   */
  async nextCommit(commitId: string): Promise<SentEvent> {
    for (;;) {
      const next = await this.nextOf('commit')
      if (next.data.commit_id === commitId) return next
    }
  }

  /** Events that were received and not yet read. */
  get waiting(): readonly SentEvent[] {
    return this.#events
  }

  /** Stops reading, like a client that hangs. */
  pause(): void {
    this.#answer.pause()
  }

  resume(): void {
    this.#answer.resume()
  }

  /** Resolves when the server has ended it. */
  async ended(): Promise<void> {
    while (!this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#request.destroy()
    await this.ended()
  }

  #read(text: string): void {
    this.#text += text
    for (let end = this.#text.indexOf('\n\n'); end >= 0; end = this.#text.indexOf('\n\n')) {
      this.#take(this.#text.slice(0, end).split('\n'))
      this.#text = this.#text.slice(end + 2)
    }
    this.#wake?.()
  }

  #take(lines: readonly string[]): void {
    const fields = new Map<string, string>()
    for (const line of lines) {
      const colon = line.indexOf(': ')
      if (colon === 0 || line.startsWith(':')) this.comments++
      else fields.set(line.slice(0, colon), line.slice(colon + 2))
    }
    this.lastId = fields.get('id') ?? this.lastId
    const data = fields.get('data')
    if (data === undefined) return
    this.#events.push({
      id: fields.get('id'),
      event: fields.get('event') ?? 'message',
      data: JSON.parse(data),
    })
  }
}
