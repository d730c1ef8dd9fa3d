import { createHmac, randomBytes } from 'node:crypto'
import { loginName } from '../accounts/index.ts'

/** The time for which a failed attempt counts. */
export const WINDOW_SECONDS = 300
/** The time for which a source of a right password is known. */
export const KNOWN_SECONDS = 30 * 86_400
const mostPerSource = 10
const mostPerName = 100
const mostKnown = 20
const mostNames = 20_000

/** Where an attempt comes from. */
export interface AttemptSource {
  /** The client's network, or its account. */
  readonly network: string
  /** The id that the client has chosen for its device, if it sent one. */
  readonly device?: string | undefined
}

/** The attempts with one name. Times are Unix seconds. */
export interface NameAttempts {
  /** Times of failed attempts, oldest first, by source. */
  readonly failed: ReadonlyMap<string, readonly number[]>
  /** The last right password of each known source, oldest first. */
  readonly known: ReadonlyMap<string, number>
}

// A name without attempts.
const NO_ATTEMPTS: NameAttempts = { failed: new Map(), known: new Map() }

/**
 * Limits password guessing: at most 10 failed attempts in five minutes per login name and network, and 100
 * per login name from all networks. A network or device that had the right password lately has only the first limit, so that strangers cannot
 * lock it out. Memory is bounded; the least recently tried names are evicted.
 */
export class LoginThrottle {
  readonly #now: () => number
  // A name may be a password typed into the wrong field, so only keyed hashes are stored.
  readonly #key = randomBytes(32)
  readonly #names = new Map<string, NameAttempts>()

  constructor(now: () => number) {
    this.#now = now
  }

  /**
   * Counts an attempt as failed before it is made, so that concurrent attempts cannot all pass. Returns the
   * seconds to wait if there were too many; that attempt is then not counted.
   */
  begin(name: string, source: AttemptSource): number | undefined {
    const key = this.#keyOf(name)
    const now = this.#now()
    const attempts = recentAttempts(this.#names.get(key) ?? NO_ATTEMPTS, now)
    const counted = countAttempt(attempts, source, now)
    if (typeof counted === 'number') return counted
    this.#keep(key, counted)
    return undefined
  }

  /** An attempt succeeded: resets the failures of its source, which is known from now on. */
  succeed(name: string, source: AttemptSource): void {
    const key = this.#keyOf(name)
    this.#keep(key, withSuccess(this.#names.get(key) ?? NO_ATTEMPTS, source, this.#now()))
  }

  /** Removes the last attempt, because its password was not checked. */
  cancel(name: string, source: AttemptSource): void {
    const key = this.#keyOf(name)
    const attempts = this.#names.get(key)
    if (attempts !== undefined) this.#keep(key, withoutLast(attempts, source))
  }

  /** Number of stored login names. */
  get size(): number {
    return this.#names.size
  }

  #keyOf(name: string): string {
    return createHmac('sha256', this.#key).update(loginName(name)).digest('base64')
  }

  #keep(key: string, attempts: NameAttempts): void {
    this.#names.delete(key)
    if (isEmpty(attempts)) return
    this.#names.set(key, attempts)
    if (this.#names.size <= mostNames) return
    const oldest = this.#names.keys().next()
    if (!oldest.done) this.#names.delete(oldest.value)
  }
}

/** The attempts that still count. */
export function recentAttempts({ failed, known }: NameAttempts, now: number): NameAttempts {
  const recent = new Map<string, number[]>()
  for (const [source, times] of failed) {
    const left = times.filter((time) => time > now - WINDOW_SECONDS)
    if (left.length > 0) recent.set(source, left)
  }
  return { failed: recent, known: new Map([...known].filter(([, time]) => time > now - KNOWN_SECONDS)) }
}

/** Adds a failed attempt. Returns the seconds to wait instead if there were too many. */
export function countAttempt(
  { failed, known }: NameAttempts,
  source: AttemptSource,
  now: number,
): NameAttempts | number {
  const counted = countedSource(known, source)
  const here = failed.get(counted) ?? []
  const everywhere = known.has(counted) ? [] : [...failed.values()].flat()
  const wait = Math.max(
    waitFor(here, mostPerSource, now),
    waitFor(everywhere.sort(ascending), mostPerName, now),
  )
  if (wait > 0) return wait
  return { failed: new Map(failed).set(counted, [...here, now]), known }
}

/** Without the failures of a source, which is known from now on. The oldest known sources are evicted. */
export function withSuccess(
  { failed, known }: NameAttempts,
  { network, device }: AttemptSource,
  now: number,
): NameAttempts {
  const left = new Map(failed)
  const after = new Map(known)
  for (const source of device === undefined ? [network] : [network, device]) {
    left.delete(source)
    after.delete(source)
    after.set(source, now)
  }
  return { failed: left, known: new Map([...after].slice(-mostKnown)) }
}

/** Without the last attempt of a source. */
export function withoutLast({ failed, known }: NameAttempts, source: AttemptSource): NameAttempts {
  const counted = countedSource(known, source)
  const times = (failed.get(counted) ?? []).slice(0, -1)
  const left = new Map(failed)
  if (times.length === 0) left.delete(counted)
  else left.set(counted, times)
  return { failed: left, known }
}

/** Whether there is nothing to keep. */
export function isEmpty({ failed, known }: NameAttempts): boolean {
  return failed.size === 0 && known.size === 0
}

/** A known device is counted by itself: strangers in its network cannot use up its attempts. */
function countedSource(known: NameAttempts['known'], { network, device }: AttemptSource): string {
  return device !== undefined && known.has(device) ? device : network
}

/** Seconds until fewer than `most` of the times are in the window. */
function waitFor(times: readonly number[], most: number, now: number): number {
  const last = times.at(-most)
  return last === undefined ? 0 : Math.max(1, Math.ceil(last + WINDOW_SECONDS - now))
}

function ascending(a: number, b: number): number {
  return a - b
}
