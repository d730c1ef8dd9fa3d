import { randomUUID } from 'node:crypto'
import type { Tickets } from '../access/index.ts'
import { rawText } from '../http/index.ts'
import { route } from './services.ts'
import { uploadError } from './upload-errors.ts'
import { type UploadItem, uploadItemsText } from './upload-wire.ts'

const KEPT_SECONDS = 3600
const MOST_RECORDS = 10_000

interface Indexed {
  /** The ticket it was uploaded by. */
  readonly ticket: string
  /** Bytes. */
  readonly total: number
  /** The answer the client would have had. */
  readonly result: string
  /** Unix seconds. */
  readonly until: number
}

/**
 * Uploads whose sender asked to be told later. They are cut into blocks while they arrive, so whoever
 * asks finds them done. Records are kept for an hour and told as long as the ticket they came by is valid; the oldest give
 * way when there are too many.
 */
export class IndexedUploads {
  readonly #now: () => number
  readonly #tickets: Pick<Tickets, 'isValid'>
  readonly #records = new Map<string, Indexed>()

  constructor(now: () => number, tickets: Pick<Tickets, 'isValid'>) {
    this.#now = now
    this.#tickets = tickets
  }

  /** Keeps the outcome of an upload and gives the id to ask for it by. */
  add(ticket: string, items: readonly UploadItem[]): string {
    const now = this.#now()
    for (const [id, record] of this.#records) {
      if (record.until > now && this.#records.size < MOST_RECORDS) break
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

/** What clients take for "finished". */
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
