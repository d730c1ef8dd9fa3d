import { randomUUID } from 'node:crypto'
import type { Tickets } from '../access/index.ts'
import { rawText } from '../http/index.ts'
import { route } from './services.ts'
import { uploadError } from './upload-errors.ts'
import { type UploadItem, uploadItemsText } from './upload-wire.ts'

const KEPT_SECONDS = 3600
const MAX_RECORDS = 10_000

interface Indexed {
  /** The ticket it was uploaded by. */
  readonly ticket: string
  /** Bytes. */
  readonly total: number
  /** The response the client would have received. */
  readonly result: string
  /** Unix seconds. */
  readonly until: number
}

/**
 * Results of uploads whose client polls for them. Files are chunked while they arrive, so a poll
 * finds them done. Records are kept for an hour and returned while the ticket is valid; the oldest are
 * evicted when there are too many.
 */
export class IndexedUploads {
  readonly #now: () => number
  readonly #tickets: Pick<Tickets, 'isValid'>
  readonly #records = new Map<string, Indexed>()

  constructor(now: () => number, tickets: Pick<Tickets, 'isValid'>) {
    this.#now = now
    this.#tickets = tickets
  }

  /** Stores the result of an upload and returns the id to poll. */
  add(ticket: string, items: readonly UploadItem[]): string {
    const now = this.#now()
    for (const [id, record] of this.#records) {
      if (record.until > now && this.#records.size < MAX_RECORDS) break
      this.#records.delete(id)
    }
    const id = randomUUID()
    const total = items.reduce((sum, item) => sum + item.size, 0)
    this.#records.set(id, { ticket, total, result: uploadItemsText(items), until: now + KEPT_SECONDS })
    return id
  }

  async find(id: string): Promise<Indexed | undefined> {
    const record = this.#records.get(id)
    if (record === undefined || record.until <= this.#now()) return undefined
    return (await this.#tickets.isValid(record.ticket)) ? record : undefined
  }
}

/** The state that clients treat as finished. */
const FINISHED = 0

export const indexProgressRoutes = [
  route({
    method: 'GET',
    path: '/seafhttp/idx_progress',
    auth: 'none',
    summary: 'Returns the progress of an upload, for a client that requested asynchronous indexing.',
    query: { task_id: rawText() },
    async handle({ query }, { indexedUploads }) {
      if (!query.task_id) throw uploadError(400, 'task id not found')
      const record = await indexedUploads.find(query.task_id)
      if (record === undefined) throw uploadError(404, 'Failed to get index progress')
      return { indexed: record.total, total: record.total, status: FINISHED, ret_json: record.result }
    },
  }),
]
