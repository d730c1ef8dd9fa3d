import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Row, Value } from '../database.ts'
import { type RequestWait, RequestWaits } from '../request-waits.ts'
import { type CachedQuery, MAX_KEY_PARAMETERS, type RowCache } from '../row-cache.ts'
import { type RowKey, rowKey } from '../row-key.ts'
import type { BatchOutcome, Outcome, Step } from './batch.ts'
import { handled } from './handled.ts'
import { type RequestRead, RequestScopes } from './request-scope.ts'
import type { Schema } from './schema.ts'
import type { Snapshots } from './snapshots.ts'
import type { Statement } from './statements.ts'

const MAX_BATCH = 64
/** A statement is quick if the event loop waits less than this for it, alone and in a batch. */
const QUICK_MS = 4
const QUICK_BATCH_MS = 20
/** A busy event loop reads answers late, and does not wait. If it takes so many times as long, the server is slow, too. */
const MAX_LATENESS = 25

/** Sends a batch. Errors of the server are in the outcome. */
type SendBatch = (steps: readonly Step[]) => Promise<BatchOutcome>
/** Runs one read. */
type SendAlone = (step: Step) => Promise<Outcome>

interface Question extends Step {
  readonly values: readonly Value[]
  /** Undefined if the result is not cached. */
  readonly cachedAs: { readonly query: CachedQuery; readonly key: RowKey } | undefined
  resolve(rows: readonly Row[]): void
  reject(error: unknown): void
  readonly promise: Promise<readonly Row[]>
}

/**
 * Reads outside of transactions, through the row cache. Before cached rows are returned, the server is asked for a snapshot, which
 * invalidates what has changed. Reads of one turn of the event loop are sent in one batch, which begins with a snapshot.
 */
export class Reads {
  readonly #sendAlone: SendAlone
  readonly #sendBatch: SendBatch
  readonly #cache: RowCache
  readonly #snapshots: Snapshots
  readonly #schema: () => Schema | undefined
  readonly #scopes: RequestScopes
  #waiting: Question[] = []
  /** Questions of the next batch that others can join. */
  readonly #shared = new Map<CachedQuery, Map<RowKey, Question>>()
  #nextSnapshot: PromiseWithResolvers<void> | undefined
  #sending: Promise<void> | undefined

  /** Batches share one connection and are sent one after another, so that snapshots come in order. Slow reads are sent alone. */
  constructor(
    sendAlone: SendAlone,
    sendBatch: SendBatch,
    cache: RowCache,
    snapshots: Snapshots,
    schema: () => Schema | undefined,
    waits = new RequestWaits(),
  ) {
    this.#scopes = new RequestScopes(waits)
    this.#sendAlone = sendAlone
    this.#sendBatch = sendBatch
    this.#cache = cache
    this.#snapshots = snapshots
    this.#schema = schema
  }

  /** The rows and the list are shared: callers must not change them. */
  find(statement: Statement, values: readonly Value[]): readonly Row[] | Promise<readonly Row[]> {
    const schema = this.#schema()
    const query = schema && statement.tables.cachedQuery(schema.graph)
    if (query === undefined || values.length > MAX_KEY_PARAMETERS) {
      return this.#ask(statement, values, undefined)
    }
    const key = rowKey(values)
    this.#prefetch({ statement, values, query, key })
    const findCached = () => this.#cache.get(query, key) ?? this.#ask(statement, values, { query, key })
    if (!this.#cache.has(query, key) || this.#scopes.takeCovered()) return findCached()
    return this.#awaitSnapshot().then(findCached)
  }

  inRequest<T>(work: () => T, key?: string): T {
    return this.#scopes.run(work, key)
  }

  /** The request that the caller handles, if it has not ended. */
  get request(): RequestWait | undefined {
    return this.#scopes.request
  }

  /**
   * With the first read of a request, reads again what the last requests like it have read, as far as it is not in the cache or its tables change often. So
   * a request needs one round trip while other nodes write, instead of one for each row that they have invalidated.
   */
  #prefetch(first: RequestRead): void {
    for (const { statement, values, query, key } of this.#scopes.noteRead(first)) {
      if (!statement.isQuick || (query === first.query && key === first.key)) continue
      if (this.#cache.has(query, key) && !this.#snapshots.changedLately(query.tables)) continue
      void handled(this.#ask(statement, values, { query, key }))
    }
  }

  /** Resolves when no batch is in flight. */
  async settled(): Promise<void> {
    while (this.#sending !== undefined) await this.#sending
  }

  /** Resolves once the cache is invalidated according to a snapshot taken after the call. */
  #awaitSnapshot(): Promise<void> {
    this.#nextSnapshot ??= Promise.withResolvers()
    this.#sending ??= this.#sendBatches()
    return this.#nextSnapshot.promise
  }

  #ask(
    statement: Statement,
    values: readonly Value[],
    cachedAs: Question['cachedAs'],
  ): Promise<readonly Row[]> {
    const shared = cachedAs && this.#shared.get(cachedAs.query)?.get(cachedAs.key)
    if (shared !== undefined) return shared.promise
    const question: Question = { statement, values, cachedAs, ...Promise.withResolvers<readonly Row[]>() }
    if (!statement.isQuick) {
      // A slow statement would delay the others of its batch.
      void this.#askAlone(question)
      return question.promise
    }
    if (cachedAs !== undefined) {
      const others = this.#shared.get(cachedAs.query)
      if (others === undefined) this.#shared.set(cachedAs.query, new Map([[cachedAs.key, question]]))
      else others.set(cachedAs.key, question)
    }
    this.#waiting.push(question)
    this.#sending ??= this.#sendBatches()
    return question.promise
  }

  async #sendBatches(): Promise<void> {
    do {
      // Further reads of this turn join the batch.
      await nextTurn()
      await this.#askBatch()
    } while (this.#nextSnapshot !== undefined || this.#waiting.length > 0)
    this.#sending = undefined
  }

  async #askBatch(): Promise<void> {
    const awaited = this.#nextSnapshot
    const questions = this.#waiting.splice(0, MAX_BATCH)
    this.#nextSnapshot = undefined
    this.#shared.clear()
    const number = this.#scopes.ask()
    const sentAt = this.#cache.now
    const timer = new ReadTimer()
    const {
      outcomes: [seen, ...answers],
    } = await this.#sendBatch([this.#snapshots.step(), ...questions])
    const isQuick = timer.isQuick(QUICK_BATCH_MS)
    const isUndisturbed = this.#cache.now === sentAt
    this.#snapshots.see(seen)
    this.#scopes.answer(number)
    // The questions were answered after the snapshot was taken, so what it invalidates is not in their answers.
    const readAt = isUndisturbed ? this.#cache.now : sentAt
    awaited?.resolve()
    for (const [index, question] of questions.entries()) {
      question.statement.noteRun(isQuick)
      const answer = answers[index]
      if (answer !== undefined) this.#answer(question, answer.rows, readAt)
      // It failed, or an earlier one did.
      else void this.#askAlone(question)
    }
  }

  async #askAlone(question: Question): Promise<void> {
    const readAt = this.#cache.now
    const timer = new ReadTimer()
    try {
      const { rows } = await this.#sendAlone(question)
      this.#answer(question, rows, readAt)
    } catch (error) {
      question.reject(error)
    }
    question.statement.noteRun(timer.isQuick(QUICK_MS))
  }

  #answer(question: Question, rows: readonly Row[], readAt: number): void {
    const { cachedAs } = question
    if (cachedAs !== undefined) this.#cache.put(cachedAs.query, cachedAs.key, rows, readAt)
    question.resolve(rows)
  }
}

/**
 * Measures how long the event loop waits for a read. The time until the answer is handled would be that of this process while it is short of CPU time: all
 * reads would be sent alone, which takes four statements for each, just when there is the least time for them.
 */
class ReadTimer {
  readonly #began = performance.now()
  readonly #before = performance.eventLoopUtilization()

  isQuick(limitMs: number): boolean {
    const ms = performance.now() - this.#began
    if (ms < limitMs) return true
    return ms < MAX_LATENESS * limitMs && performance.eventLoopUtilization(this.#before).idle < limitMs
  }
}
