/** A process, as the table knows it. */
type Owner = object

export interface LockRequest {
  /** Unique for its owner. */
  readonly id: number
  readonly name: string
  /** Another lock. It is waited for if it is held at the time of the request. */
  readonly after?: string | undefined
}

interface Entry extends LockRequest {
  readonly owner: Owner
  /** Called once, with the names of all other locks that are held or waited for. */
  readonly grant: (taken: readonly string[]) => void
  /** An entry of another lock that has to be released first. */
  blockedBy: Entry | undefined
}

/**
 * Named locks of several processes. Each is granted to one request at a time, in the order of the requests. The table is
 * in one process, which notifies the next owner, so clients do not poll.
 */
export class LockTable {
  /** By name: who has the lock, then those who wait. Only the first may be ungranted because of another lock. */
  readonly #queues = new Map<string, Entry[]>()
  readonly #granted = new Set<Entry>()

  request(owner: Owner, { id, name, after }: LockRequest, grant: Entry['grant']): void {
    const holder = after === undefined ? undefined : this.#queues.get(after)?.[0]
    const entry: Entry = { id, name, after, owner, grant, blockedBy: undefined }
    if (holder !== undefined && this.#granted.has(holder) && holder.owner !== owner) entry.blockedBy = holder
    const queue = this.#queues.get(name)
    if (queue === undefined) this.#queues.set(name, [entry])
    else queue.push(entry)
    this.#grantFirst(name)
  }

  /** Releases a lock, or withdraws a request. Does nothing if there is none. */
  release(owner: Owner, { id, name }: Pick<LockRequest, 'id' | 'name'>): void {
    const entry = this.#queues.get(name)?.find((one) => one.owner === owner && one.id === id)
    if (entry !== undefined) this.#remove(entry)
  }

  /** The process has ended. */
  releaseAll(owner: Owner): void {
    const entries = [...this.#queues.values()].flat().filter((entry) => entry.owner === owner)
    for (const entry of entries) this.#remove(entry)
  }

  #remove(entry: Entry): void {
    const { name } = entry
    const queue = (this.#queues.get(name) ?? []).filter((other) => other !== entry)
    if (queue.length > 0) this.#queues.set(name, queue)
    else this.#queues.delete(name)
    this.#granted.delete(entry)
    for (const [first] of this.#queues.values()) {
      if (first?.blockedBy === entry) this.#grantFirst(first.name)
    }
    this.#grantFirst(name)
  }

  #grantFirst(name: string): void {
    const first = this.#queues.get(name)?.[0]
    if (first === undefined || this.#granted.has(first)) return
    if (first.blockedBy !== undefined && this.#granted.has(first.blockedBy)) return
    this.#granted.add(first)
    first.grant([...this.#queues.keys()].filter((other) => other !== name))
  }
}
