import type { Connection, FieldDef } from 'pg'
import type { Row, Value } from '../database.ts'
import type { Statement } from './statements.ts'
import { valueTypes } from './values.ts'
import { type Bound, Messages } from './wire.ts'

/** A statement to be run, with its parameters. */
export interface Step {
  readonly statement: Statement
  readonly values: readonly Bound[]
}

/** What came of a step. */
export interface Outcome {
  readonly rows: Row[]
  /** Rows found or changed. */
  readonly count: number
  readonly command: string
}

/** What came of steps that were sent together: an error fails one, and those after it are not run. */
export interface BatchOutcome {
  readonly outcomes: readonly Outcome[]
  readonly error: unknown
}

interface ResultColumn {
  readonly name: string
  readonly parse: (text: string) => Value
}

/** What a connection has prepared, by name, and how the rows of each look. */
export class Prepared {
  readonly columns = new Map<string, readonly ResultColumn[]>()
  /** Sent to be prepared together with something that failed: perhaps it is. */
  readonly uncertain = new Set<string>()
}

/**
 * Steps that go to the server in one message and come back in one: the driver would send each, and wait for it, alone.
 * The driver calls it with what the server answers.
 */
export class Batch {
  readonly #prepared: Prepared
  readonly #message: Buffer
  readonly #done: (outcome: BatchOutcome) => void
  readonly #outcomes: Outcome[] = []
  /** As sent: a statement can be given one meanwhile. */
  readonly #names: string[] = []
  readonly #parsed = new Set<string>()
  #columns: readonly ResultColumn[] | undefined
  #rows: Row[] = []
  #error: unknown

  private constructor(prepared: Prepared, steps: readonly Step[], done: (outcome: BatchOutcome) => void) {
    this.#prepared = prepared
    this.#done = done
    this.#message = this.#encode(steps)
  }

  /** Resolves in any case, also if the connection is lost. */
  static run(
    client: { readonly prepared: Prepared; query(batch: Batch): unknown },
    steps: readonly Step[],
  ): Promise<BatchOutcome> {
    return new Promise<BatchOutcome>((resolve) => {
      const batch = new Batch(client.prepared, steps, resolve)
      client.query(batch)
    }).catch((error: unknown) => ({ outcomes: [], error }))
  }

  submit(connection: Connection): void {
    if (connection.stream.writable) connection.stream.write(this.#message)
  }

  handleRowDescription({ fields }: { fields: readonly FieldDef[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: valueTypes.getTypeParser(dataTypeID) as (text: string) => Value,
    }))
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    if (this.#error !== undefined) return
    try {
      this.#rows.push(rowOf(this.#currentColumns(), fields))
    } catch (error) {
      this.#error = error
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    if (this.#error !== undefined) return
    const name = this.#names[this.#outcomes.length] ?? ''
    if (name !== '' && !this.#prepared.columns.has(name)) {
      this.#prepared.columns.set(name, this.#columns ?? [])
      this.#prepared.uncertain.delete(name)
    }
    const count = Number(text.slice(text.lastIndexOf(' ') + 1))
    this.#outcomes.push({ rows: this.#rows, count: Number.isNaN(count) ? 0 : count, command: text })
    this.#rows = []
    this.#columns = undefined
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: '' })
  }

  handleError(error: unknown): void {
    this.#error ??= error
    this.handleReadyForQuery()
  }

  handleReadyForQuery(): void {
    if (this.#error !== undefined) {
      for (const name of this.#parsed)
        if (!this.#prepared.columns.has(name)) this.#prepared.uncertain.add(name)
    }
    this.#done({ outcomes: this.#outcomes, error: this.#error })
  }

  handlePortalSuspended(): void {}

  handleCopyInResponse(connection: { sendCopyFail(reason: string): void }): void {
    connection.sendCopyFail('nothing to copy')
  }

  handleCopyData(): void {}

  // Before the driver has it: what cannot be encoded must not leave the connection waiting for an answer.
  #encode(steps: readonly Step[]): Buffer {
    const messages = new Messages()
    for (const { statement, values } of steps) {
      const { name } = statement
      this.#names.push(name)
      const isKnown = name !== '' && (this.#prepared.columns.has(name) || this.#parsed.has(name))
      if (!isKnown) {
        if (this.#prepared.uncertain.has(name)) messages.close(name)
        messages.parse(name, statement.text)
        if (name !== '') this.#parsed.add(name)
      }
      messages.bind(name, values)
      if (!isKnown) messages.describe()
      messages.execute()
    }
    messages.sync()
    return messages.taken()
  }

  #currentColumns(): readonly ResultColumn[] {
    if (this.#columns === undefined) {
      const name = this.#names[this.#outcomes.length] ?? ''
      this.#columns = this.#prepared.columns.get(name) ?? []
    }
    return this.#columns
  }
}

function rowOf(columns: readonly ResultColumn[], fields: readonly (string | null)[]): Row {
  const row: Row = {}
  for (let index = 0; index < columns.length; index++) {
    const column = columns[index] as ResultColumn
    const field = fields[index] ?? null
    row[column.name] = field === null ? null : column.parse(field)
  }
  return row
}
