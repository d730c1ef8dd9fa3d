import type { ClientConfig, QueryConfig, QueryResult } from 'pg'
import type { Row } from '../../database.ts'
import { type BatchOutcome, ColumnArray, type Outcome, type Step } from '../batch.ts'
import { PostgresClient } from '../postgres-client.ts'

/** The protocol counts parameters in 16 bits. */
const MAX_PARAMETERS = 65_535

/** Sends each step as a query of the driver. The driver pipelines them: it does not wait for one before it sends the next. */
export class PlainClient extends PostgresClient {
  constructor(config: ClientConfig = {}) {
    super({ ...config, pipeline: true })
  }

  async runBatch(steps: readonly Step[]): Promise<BatchOutcome> {
    // The driver would send a wrong count instead of failing.
    if (steps.some(({ values }) => values.length > MAX_PARAMETERS)) {
      return {
        outcomes: [],
        error: new RangeError(`A statement has more than ${MAX_PARAMETERS} parameters.`),
      }
    }
    // All are awaited: the connection must be idle when the batch has ended.
    const results = await Promise.allSettled(steps.map((step) => this.query<Row>(queryOf(step))))
    const outcomes: Outcome[] = []
    for (const result of results) {
      if (result.status === 'rejected') return { outcomes, error: result.reason }
      outcomes.push(outcomeOf(result.value))
    }
    return { outcomes, error: undefined }
  }
}

function queryOf({ statement: { name, text }, values }: Step): QueryConfig & { queryMode: 'extended' } {
  return {
    ...(name !== '' && { name }),
    text,
    values: values.map((value) => (value instanceof ColumnArray ? value.bytes : value)),
    // One statement per text, also without parameters.
    queryMode: 'extended',
  }
}

function outcomeOf({ rows, rowCount, command }: QueryResult<Row>): Outcome {
  return { rows, count: rowCount ?? 0, command }
}
