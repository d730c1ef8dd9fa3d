import { setImmediate as nextTurn } from 'node:timers/promises'
import { bytesOf, type Key, keyOf } from '../answers.ts'
import type { Row, Value } from '../database.ts'
import type { BatchOutcome, Step } from './batch.ts'
import type { Changes } from './changes.ts'
import type { Schema } from './schema.ts'
import { Statement } from './statements.ts'

const MOST_BYTES = 2 * 2 ** 20
const LARGEST_BYTES = 8 * 1024
/** What an answer takes besides what is in it, roughly. */
const ANSWER_BYTES = 200
const MOST_PARAMETERS = 8
const MOST_TOGETHER = 64
/** How long one may take alone, and many together, to be quick. */
const QUICK_MS = 4
const QUICK_TOGETHER_MS = 20

const snapshot: Step = {
  statement: Statement.named('carrel_snapshot', 'select pg_current_snapshot()::text as snapshot'),
  values: [],
}

/** Sends steps to the server; what is wrong with the server is in the outcome. */
type Send = (steps: readonly Step[]) => Promise<BatchOutcome>

interface Answer {
  readonly rows: readonly Row[]
  readonly bytes: number
  /** When it was asked for, as `Changes` counts. */
  readonly at: number
}

interface Question extends Step {
  readonly values: readonly Value[]
  /** Undefined for what is not to be kept. */
  readonly key: Key | undefined
  resolve(rows: readonly Row[]): void
  reject(error: unknown): void
  readonly promise: Promise<readonly Row[]>
}

/**
 * Reads outside of transactions. What was read before is given again as long as nobody has changed it (`Changes`). What is asked for
 * in one turn of the event loop goes to the server together, with a look at what has changed: whatever a turn works on had
 * arrived when it began.
 */
export class Reads {
  readonly #sendAlone: Send
  readonly #sendTogether: Send
  readonly #changes: Changes
  readonly #schema: () => Schema | undefined
  readonly #known = new Map<Statement, Map<Key, Answer>>()
  #bytes = 0
  #asked: Question[] = []
  readonly #shared = new Map<Statement, Map<Key, Question>>()
  #look: PromiseWithResolvers<void> | undefined
  #going: Promise<void> | undefined

  /** What is sent together goes one way, in turns, so that what it finds can be put in order; nothing slow may be in its way. */
  constructor(sendAlone: Send, sendTogether: Send, changes: Changes, schema: () => Schema | undefined) {
    this.#sendAlone = sendAlone
    this.#sendTogether = sendTogether
    this.#changes = changes
    this.#schema = schema
  }

  /** The rows are shared: nobody may change one, or the list. */
  find(statement: Statement, values: readonly Value[]): readonly Row[] | Promise<readonly Row[]> {
    const schema = this.#schema()
    if (values.length > MOST_PARAMETERS || schema === undefined || !statement.readsOnlyTables(schema)) {
      return this.#ask(statement, values, undefined)
    }
    const key = keyOf(values)
    const known = this.#known.get(statement)?.get(key)
    if (known === undefined || !this.#changes.holds(statement.tables(schema), known.at)) {
      return this.#ask(statement, values, key)
    }
    if (this.#changes.takeFresh()) return known.rows
    return this.#looked().then(() => {
      return this.#changes.holds(statement.tables(schema), known.at)
        ? known.rows
        : this.#ask(statement, values, key)
    })
  }

  /** Resolves when nothing is being asked for together any more. */
  async settled(): Promise<void> {
    while (this.#going !== undefined) await this.#going
  }

  /** Resolves once all that was over when it was called is noted. */
  #looked(): Promise<void> {
    this.#look ??= Promise.withResolvers()
    this.#going ??= this.#go()
    return this.#look.promise
  }

  #ask(statement: Statement, values: readonly Value[], key: Key | undefined): Promise<readonly Row[]> {
    const shared = key === undefined ? undefined : this.#shared.get(statement)?.get(key)
    if (shared !== undefined) return shared.promise
    const question: Question = { statement, values, key, ...Promise.withResolvers<readonly Row[]>() }
    if (!statement.isQuick) {
      // It would keep the others waiting.
      void this.#askAlone(question)
      return question.promise
    }
    if (key !== undefined) {
      const others = this.#shared.get(statement)
      if (others === undefined) this.#shared.set(statement, new Map([[key, question]]))
      else others.set(key, question)
    }
    this.#asked.push(question)
    this.#going ??= this.#go()
    return question.promise
  }

  /** Asks until nothing is left to ask for. */
  async #go(): Promise<void> {
    do {
      // What else is asked for in this turn comes along.
      await nextTurn()
      await this.#askTogether()
    } while (this.#look !== undefined || this.#asked.length > 0)
    this.#going = undefined
  }

  async #askTogether(): Promise<void> {
    const look = this.#look
    const asked = this.#asked.splice(0, MOST_TOGETHER)
    this.#look = undefined
    this.#shared.clear()
    const at = this.#changes.now
    const began = performance.now()
    const {
      outcomes: [seen, ...answers],
    } = await this.#sendTogether([snapshot, ...asked])
    const ms = performance.now() - began
    const isUnchanged = this.#changes.now === at
    this.#changes.see(seen && String(seen.rows[0]?.snapshot))
    // Whatever the look has shown was over when the questions were answered.
    const readAt = isUnchanged ? this.#changes.now : at
    look?.resolve()
    for (const [index, question] of asked.entries()) {
      question.statement.noteRun(ms < QUICK_TOGETHER_MS)
      const answer = answers[index]
      if (answer !== undefined) this.#answer(question, answer.rows, readAt)
      // It failed, or another before it did.
      else void this.#askAlone(question)
    }
  }

  async #askAlone(question: Question): Promise<void> {
    const at = this.#changes.now
    const began = performance.now()
    const {
      outcomes: [answer],
      error,
    } = await this.#sendAlone([question])
    question.statement.noteRun(performance.now() - began < QUICK_MS)
    if (answer === undefined) question.reject(error)
    else this.#answer(question, answer.rows, at)
  }

  #answer(question: Question, rows: readonly Row[], at: number): void {
    this.#keep(question, rows, at)
    question.resolve(rows)
  }

  #keep({ statement, key }: Question, rows: readonly Row[], at: number): void {
    if (key === undefined) return
    const bytes = bytesOf(rows, LARGEST_BYTES) + ANSWER_BYTES
    if (bytes > LARGEST_BYTES) return
    if (this.#bytes >= MOST_BYTES) {
      this.#known.clear()
      this.#bytes = 0
    }
    let answers = this.#known.get(statement)
    if (answers === undefined) {
      answers = new Map()
      this.#known.set(statement, answers)
    }
    this.#bytes += bytes - (answers.get(key)?.bytes ?? 0)
    answers.set(key, { rows, bytes, at })
  }
}
