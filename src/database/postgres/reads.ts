import { bytesOf, type Key, keyOf } from '../answers.ts'
import type { Row, Value } from '../database.ts'
import type { BatchOutcome, Step } from './batch.ts'
import type { Changes } from './changes.ts'
import type { Schema } from './schema.ts'
import type { Statement } from './statements.ts'

const MOST_BYTES = 2 * 2 ** 20
const LARGEST_BYTES = 8 * 1024
/** What an answer takes besides what is in it, roughly. */
const ANSWER_BYTES = 200
const MOST_PARAMETERS = 8
const MOST_TOGETHER = 32

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
 * Reads outside of transactions. What is asked for in one turn of the event loop goes to the server together. What was read
 * before is given again as long as nobody has changed it, which costs one look for all of a turn (`Changes`).
 */
export class Reads {
  readonly #send: Send
  readonly #changes: Changes
  readonly #schema: () => Schema | undefined
  readonly #known = new Map<Statement, Map<Key, Answer>>()
  #bytes = 0
  #asked: Question[] = []
  readonly #shared = new Map<Statement, Map<Key, Question>>()

  constructor(send: Send, changes: Changes, schema: () => Schema | undefined) {
    this.#send = send
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
    if (this.#changes.isFresh) return known.rows
    return this.#changes.look().then(() => {
      return this.#changes.holds(statement.tables(schema), known.at)
        ? known.rows
        : this.#ask(statement, values, key)
    })
  }

  #ask(statement: Statement, values: readonly Value[], key: Key | undefined): Promise<readonly Row[]> {
    const shared = key === undefined ? undefined : this.#shared.get(statement)?.get(key)
    if (shared !== undefined) return shared.promise
    const question: Question = { statement, values, key, ...Promise.withResolvers<readonly Row[]>() }
    if (key !== undefined) {
      const others = this.#shared.get(statement)
      if (others === undefined) this.#shared.set(statement, new Map([[key, question]]))
      else others.set(key, question)
    }
    if (this.#asked.length === 0) setImmediate(this.#begin)
    this.#asked.push(question)
    return question.promise
  }

  readonly #begin = (): void => {
    const asked = this.#asked
    this.#asked = []
    this.#shared.clear()
    // One that takes long would keep the others waiting.
    const quick: Question[] = []
    for (const question of asked) {
      if (question.statement.isQuick) quick.push(question)
      else void this.#run([question])
    }
    for (let start = 0; start < quick.length; start += MOST_TOGETHER) {
      void this.#run(quick.slice(start, start + MOST_TOGETHER))
    }
  }

  async #run(questions: readonly Question[]): Promise<void> {
    const at = this.#changes.now
    const began = performance.now()
    let outcome: BatchOutcome
    try {
      outcome = await this.#send(questions)
    } catch (error) {
      for (const question of questions) question.reject(error)
      return
    }
    const ms = performance.now() - began
    for (const [index, question] of questions.entries()) {
      const answer = outcome.outcomes[index]
      if (answer !== undefined) {
        question.statement.noteTime(ms)
        this.#keep(question, answer.rows, at)
        question.resolve(answer.rows)
      } else if (index === outcome.outcomes.length || questions.length === 1) question.reject(outcome.error)
      // It was not come to.
      else void this.#run([question])
    }
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
