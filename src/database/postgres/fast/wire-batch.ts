import type { Client, Connection, FieldDef } from 'pg'
import type { Row, Value } from '../../database.ts'
import type { BatchOutcome, Outcome, Step } from '../batch.ts'
import { valueTypes } from '../values.ts'
import { WireMessages } from './wire-messages.ts'

interface ResultColumn {
  readonly name: string
  readonly parse: (text: string) => Value
}

/** The prepared statements of a connection, by name. */
export class PreparedStatements {
  /** The result columns of each. */
  readonly columns = new Map<string, readonly ResultColumn[]>()
  /** Sent in a batch that failed, so it is unknown whether the server prepared them. */
  readonly uncertain = new Set<string>()
}

/**
 * Steps sent in one message with one `Sync`. After an error the server skips the steps that follow. The driver queues it like one of its own
 * queries and calls the `handle…` methods with the answers of the server.
 */
export class WireBatch {
  readonly #prepared: PreparedStatements
  readonly #message: Buffer
  readonly #done: (outcome: BatchOutcome) => void
  readonly #outcomes: Outcome[] = []
  /** The names sent. A statement may get a name while the batch is in flight. */
  readonly #names: string[] = []
  readonly #parsed = new Set<string>()
  #columns: readonly ResultColumn[] | undefined
  #rows: Row[] = []
  #error: unknown

  private constructor(
    prepared: PreparedStatements,
    steps: readonly Step[],
    done: (outcome: BatchOutcome) => void,
  ) {
    this.#prepared = prepared
    this.#done = done
    this.#message = this.#encode(steps)
  }

  /** Never rejects, even if the connection is lost. */
  static run(client: Client, prepared: PreparedStatements, steps: readonly Step[]): Promise<BatchOutcome> {
    return new Promise<BatchOutcome>((resolve) => {
      client.query(new WireBatch(prepared, steps, resolve))
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

  // In the constructor: a value that cannot be encoded must throw before the driver waits for an answer.
  #encode(steps: readonly Step[]): Buffer {
    const messages = new WireMessages()
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
    return messages.toBuffer()
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
