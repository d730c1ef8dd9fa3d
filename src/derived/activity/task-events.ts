import type { Sealing } from '../../platform/secret/index.ts'
import type { LiveEvent, TaskUpdate } from './hub.ts'

/** How often the progress of a task is logged for the streams of other nodes. */
const PROGRESS_SECONDS = 1
/** Tasks whose progress is remembered. Forgetting them delays one message of each. */
const MAX_TASKS = 10_000

/** An event as it is logged: the id of an archive is a secret, so it is sealed. */
type StoredEvent = LiveEvent & { readonly sealedId?: string }

/** Decides which events of tasks are logged, so that the streams of other nodes get them, and keeps ids of archives out of the database. */
export class TaskEvents {
  readonly #sealing: Pick<Sealing, 'seal' | 'open'>
  readonly #isShared: boolean
  /** When the progress of a task was logged last, or first seen. Unix seconds. */
  readonly #loggedAt = new Map<string, number>()

  constructor(sealing: Pick<Sealing, 'seal' | 'open'>, isShared: boolean) {
    this.#sealing = sealing
    this.#isShared = isShared
  }

  /** Whether an event is to be logged. Asked once for each. `now` in Unix seconds. */
  isLogged(event: LiveEvent, now: number): boolean {
    if (event.kind !== 'task') return true
    const { id, type, isUnstored } = event.task
    if (isUnstored) return false
    if (!this.#isShared) return type !== 'archive' && !isProgress(event)
    if (isProgress(event)) return this.#isDue(id, now)
    this.#loggedAt.delete(id)
    return true
  }

  /** The event as it is stored. */
  sealed(event: LiveEvent): StoredEvent {
    if (event.kind !== 'task' || event.task.type !== 'archive') return event
    const sealedId = this.#sealing.seal(event.task.id, String(event.accountKey)).toString('base64')
    return { ...event, task: { ...event.task, id: '' }, sealedId }
  }

  /** The event of a stored one. Undefined if it was sealed under another secret. */
  opened(stored: StoredEvent): LiveEvent | undefined {
    if (stored.kind !== 'task' || stored.sealedId === undefined) return stored
    const { sealedId, task, ...event } = stored
    const id = this.#sealing.open(Buffer.from(sealedId, 'base64'), String(event.accountKey))
    return id === undefined ? undefined : { ...event, task: { ...task, id } satisfies TaskUpdate }
  }

  /** A task that ends soon has no progress in the log. */
  #isDue(id: string, now: number): boolean {
    const before = this.#loggedAt.get(id)
    if (before !== undefined && now - before < PROGRESS_SECONDS) return false
    if (this.#loggedAt.size >= MAX_TASKS) this.#loggedAt.clear()
    this.#loggedAt.set(id, now)
    return before !== undefined
  }
}

/** Progress of a task is obsolete after a reconnect. */
export function isProgress(event: LiveEvent): boolean {
  return event.kind === 'task' && (event.task.state === 'queued' || event.task.state === 'running')
}
