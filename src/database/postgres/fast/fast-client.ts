import type { BatchOutcome, Step } from '../batch.ts'
import { PostgresClient } from '../postgres-client.ts'
import { PreparedStatements, WireBatch } from './wire-batch.ts'

/** Sends a batch as one message with one `Sync`, and skips the description of rows of statements it knows. */
export class FastClient extends PostgresClient {
  readonly #prepared = new PreparedStatements()

  runBatch(steps: readonly Step[]): Promise<BatchOutcome> {
    return WireBatch.run(this, this.#prepared, steps)
  }
}
