import { randomUUID } from 'node:crypto'
import { json, kinds } from '../../base/schemas/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { rawText } from '../../platform/input/index.ts'
import { Tickets } from '../../sharing/access/index.ts'
import {
  deleteIndexedUploadsBefore,
  findIndexedUpload,
  type IndexedUpload,
  insertIndexedUpload,
} from './indexed-upload-store.ts'
import { route } from './services.ts'
import { type UploadItem, uploadError, uploadItemsText } from './upload-wire.ts'

const KEPT_SECONDS = 3600
const isId = /^[0-9a-f-]{36}$/

/**
 * Results of uploads whose client polls for them. Files are chunked while they arrive, so a poll
 * finds them done. They are rows, so that any node answers, are kept for an hour, and are returned while the ticket is valid.
 */
export class IndexedUploads {
  readonly #db: Database
  readonly #tickets: Pick<Tickets, 'findLibrary'>
  readonly #now: () => number

  constructor(db: Database, tickets: Pick<Tickets, 'findLibrary'>, now: () => number) {
    this.#db = db
    this.#tickets = tickets
    this.#now = now
  }

  /** Stores the result of an upload and returns the id to poll. */
  async add(ticket: string, items: readonly UploadItem[]): Promise<string> {
    const id = randomUUID()
    const upload = {
      ticketHash: Tickets.hashOf(ticket),
      total: items.reduce((sum, item) => sum + item.size, 0),
      result: uploadItemsText(items),
      expiresAt: this.#now() + KEPT_SECONDS,
    }
    await this.#db.write((tx) => insertIndexedUpload(tx, id, upload), { durable: false })
    return id
  }

  async find(id: string): Promise<IndexedUpload | undefined> {
    const upload = isId.test(id) ? await findIndexedUpload(this.#db, id) : undefined
    if (upload === undefined || upload.expiresAt <= this.#now()) return undefined
    return (await this.#tickets.findLibrary(upload.ticketHash)) && upload
  }

  /** Maintenance: deletes results that can no longer be polled. */
  deleteExpired(): Promise<number> {
    return this.#db.write((tx) => deleteIndexedUploadsBefore(tx, this.#now()), { durable: false })
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
    responses: () => ({
      200: json(
        kinds.record('IndexProgress', {
          indexed: kinds.count('The number of files that were indexed.'),
          total: kinds.count('The number of files.'),
          status: kinds.literal(0, { description: 'Finished.' }),
          ret_json: kinds.text('A JSON array of the stored files.'),
        }),
        'The progress.',
      ),
    }),
    details: () => ({ parameters: { task_id: { required: true } } }),
    async handle({ query }, { indexedUploads }) {
      if (!query.task_id) throw uploadError(400, 'task id not found')
      const record = await indexedUploads.find(query.task_id)
      if (record === undefined) throw uploadError(404, 'Failed to get index progress')
      return { indexed: record.total, total: record.total, status: FINISHED, ret_json: record.result }
    },
  }),
]
