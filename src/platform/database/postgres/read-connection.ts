import { databaseClosed } from '../errors.ts'
import type { BatchOutcome, Step } from './batch.ts'
import { FAST_READS_MS } from './deadlines.ts'
import { PostgresClient, type PostgresClientConfig } from './postgres-client.ts'

/** The connection that fast reads share. Opened when first needed, and again after it was lost. */
export class ReadConnection {
  readonly #config: PostgresClientConfig
  readonly #onConnect: (server: string) => void
  #client: Promise<PostgresClient> | undefined
  #isEnded = false

  /** `onConnect` is called for each connection before anything is sent through it. */
  constructor(config: PostgresClientConfig, onConnect: (server: string) => void) {
    this.#config = config
    this.#onConnect = onConnect
  }

  /** The error is that of the driver. A connection on which it is overdue is closed. */
  async send(steps: readonly Step[]): Promise<BatchOutcome> {
    try {
      if (this.#isEnded) throw databaseClosed()
      this.#client ??= this.#open()
      return await (await this.#client).runBatch(steps, FAST_READS_MS)
    } catch (error) {
      return { outcomes: [], error }
    }
  }

  /** Ends the connection; the next batch opens another. A batch in flight fails. */
  reconnect(): void {
    const client = this.#client
    this.#client = undefined
    client?.then(
      (open) => open.end().catch(() => {}),
      () => {},
    )
  }

  async end(): Promise<void> {
    this.#isEnded = true
    await (await this.#client?.catch(() => undefined))?.end()
  }

  #open(): Promise<PostgresClient> {
    const opening = this.#connect(() => {
      // A connection that was already replaced must not drop its successor.
      if (this.#client === opening) this.#client = undefined
    })
    return opening
  }

  async #connect(onLost: () => void): Promise<PostgresClient> {
    const client = new PostgresClient(this.#config)
    client.on('error', onLost)
    client.on('end', onLost)
    try {
      await client.connect()
      this.#onConnect(await client.describeServer())
      return client
    } catch (error) {
      client.drop()
      onLost()
      throw error
    }
  }
}
