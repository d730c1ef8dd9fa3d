import type { ClientConfig } from 'pg'
import { databaseClosed } from '../errors.ts'
import { Batch, type BatchOutcome, type Step } from './batch.ts'
import { CarrelClient, prepareSession } from './carrel-client.ts'

/** The connection that quick reads share. Opened when first needed, and again if lost. */
export class ReadConnection {
  readonly #config: ClientConfig
  readonly #onConnect: (server: string) => void
  #client: Promise<CarrelClient> | undefined
  #isEnded = false

  /** `onConnect` is called for each connection before anything is sent through it. */
  constructor(config: ClientConfig, onConnect: (server: string) => void) {
    this.#config = config
    this.#onConnect = onConnect
  }

  /** The error, if there is one, is as the driver says it. */
  async send(steps: readonly Step[]): Promise<BatchOutcome> {
    try {
      if (this.#isEnded) throw databaseClosed()
      this.#client ??= this.#open()
      return await Batch.run(await this.#client, steps)
    } catch (error) {
      return { outcomes: [], error }
    }
  }

  /** Ends the connection; the next batch opens another. A batch on its way fails. */
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

  #open(): Promise<CarrelClient> {
    const opening = this.#connect(() => {
      // A connection that was replaced meanwhile does not take its successor along.
      if (this.#client === opening) this.#client = undefined
    })
    return opening
  }

  async #connect(onLost: () => void): Promise<CarrelClient> {
    const client = new CarrelClient(this.#config)
    client.on('error', onLost)
    client.on('end', onLost)
    try {
      await client.connect()
      this.#onConnect(await prepareSession(client))
      return client
    } catch (error) {
      onLost()
      throw error
    }
  }
}
